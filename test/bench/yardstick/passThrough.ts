/**
 * pass-through: sends JSON that PostgreSQL generated, unread. One prepared statement a page, after the same key lookup and
 * request count as ours.
 */
import Fastify from "fastify"
import { countKey } from "./keyAndRate.ts"
import { listen } from "./listen.ts"
import { pool } from "./pool.ts"

const db = pool(8)

const PAGE = `
  WITH page AS MATERIALIZED (SELECT * FROM orders WHERE city = $1 ORDER BY placed_at DESC, id DESC LIMIT 101),
  shown AS (SELECT * FROM page LIMIT 100)
  SELECT coalesce((SELECT json_agg(s) FROM shown s), '[]')::text AS data, (SELECT count(*) FROM page)::int AS found,
         (SELECT row_to_json(l)::text FROM (SELECT placed_at, id FROM shown OFFSET 99 LIMIT 1) l) AS last`
const COLUMNS = JSON.stringify(
  ["id", "city", "placed_at", "customer", "email", "total", "currency", "paid", "items", "note"].map((name) => ({
    name,
    type: "text",
    label: name,
    comment: null,
  })),
)
const LIMIT = 1_000_000

const app = Fastify()
app.get<{ Querystring: { city: string } }>("/rows", async (request, reply) => {
  const count = await countKey(db, request)
  const { rows } = await db.query<{ data: string; found: number; last: string | null }>({
    name: "page",
    text: PAGE,
    values: [request.query.city],
  })
  const { data, found, last } = rows[0]!
  const more = found > 100
  return reply
    .header("content-type", "application/json")
    .header("x-ratelimit-limit", LIMIT)
    .header("x-ratelimit-remaining", LIMIT - count)
    .send(
      `{"data":${data},"has_more":${more},"next_cursor":${more && last !== null ? `"${btoa(last)}"` : "null"},"columns":${COLUMNS}}`,
    )
})
await listen(app)
