/** bare: Fastify and pg, one prepared INSERT a request, nothing else. */
import Fastify, { type FastifyRequest } from "fastify"
import { listen } from "./listen.ts"
import { pool } from "./pool.ts"

const db = pool(10)
await db.query("CREATE TABLE event (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, payload jsonb NOT NULL)")

const take = async (request: FastifyRequest) => {
  const { rows } = await db.query<{ id: string }>({
    name: "insert",
    text: "INSERT INTO event (payload) VALUES ($1) RETURNING id",
    values: [JSON.stringify(request.body)],
  })
  return { ok: true, id: Number(rows[0]!.id) }
}

const app = Fastify()
app.post("/intake", take)
await listen(app)
