/**
 * plain: what a good engineer writes in an afternoon. Fastify and pg with prepared statements. Each request is a transaction
 * with the same durable work as ours: repeat check, event, original request, row.
 */
import { createHash } from "node:crypto"
import Fastify, { type FastifyRequest } from "fastify"
import { listen } from "./listen.ts"
import { pool } from "./pool.ts"

const db = pool(20)
await db.query(`
  CREATE TABLE event (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, source_id int NOT NULL, received_at timestamptz NOT NULL DEFAULT now(),
    fingerprint bytea NOT NULL, repeat_of bigint, payload jsonb NOT NULL);
  CREATE INDEX ON event (source_id, fingerprint, received_at);
  CREATE TABLE original (
    event_id bigint PRIMARY KEY, received_at timestamptz NOT NULL DEFAULT now(), body bytea NOT NULL, content_type text,
    ip text, referer text, origin text, user_agent text, accept_language text);
  CREATE TABLE orders (
    event_id bigint PRIMARY KEY, received_at timestamptz NOT NULL DEFAULT now(), "order" text, customer text, email text,
    city text, total numeric, currency text, paid boolean, items numeric, placed_at text, note text, channel text)`)

const FIELDS = [
  "order",
  "customer",
  "email",
  "city",
  "total",
  "currency",
  "paid",
  "items",
  "placed_at",
  "note",
  "channel",
]
const INSERT_ROW = `INSERT INTO orders (event_id, ${FIELDS.map((name) => `"${name}"`).join(", ")})
  VALUES ($1, ${FIELDS.map((_, at) => `$${at + 2}`).join(", ")})`

const take = async (request: FastifyRequest) => {
  const body = request.body as Buffer
  const payload = JSON.parse(body.toString()) as Record<string, unknown>
  const fingerprint = createHash("sha256").update(JSON.stringify(payload)).digest()
  const client = await db.connect()
  try {
    await client.query("BEGIN")
    const first = await client.query<{ id: string }>({
      name: "first",
      text: `SELECT id FROM event WHERE source_id = 1 AND fingerprint = $1 AND received_at > now() - interval '5 minutes'
             AND repeat_of IS NULL ORDER BY id LIMIT 1`,
      values: [fingerprint],
    })
    const repeatOf = first.rows[0]?.id ?? null
    const event = await client.query<{ id: string }>({
      name: "event",
      text: "INSERT INTO event (source_id, fingerprint, repeat_of, payload) VALUES (1, $1, $2, $3) RETURNING id",
      values: [fingerprint, repeatOf, JSON.stringify(payload)],
    })
    const id = event.rows[0]!.id
    const { headers } = request
    await client.query({
      name: "original",
      text: `INSERT INTO original (event_id, body, content_type, ip, referer, origin, user_agent, accept_language)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
      values: [
        id,
        body,
        headers["content-type"],
        request.ip,
        headers.referer,
        headers.origin,
        headers["user-agent"],
        headers["accept-language"],
      ],
    })
    if (repeatOf === null) {
      await client.query({
        name: "row",
        text: INSERT_ROW,
        values: [id, ...FIELDS.map((name) => payload[name] ?? null)],
      })
    }
    await client.query("COMMIT")
    return { ok: true, id: Number(id), duplicate: repeatOf !== null }
  } catch (error) {
    await client.query("ROLLBACK")
    throw error
  } finally {
    client.release()
  }
}

const app = Fastify({ bodyLimit: 1_048_576 })
app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => done(null, body))
app.post("/intake", take)
await listen(app)
