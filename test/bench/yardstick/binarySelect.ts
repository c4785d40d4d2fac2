/**
 * binary SELECT: the page's SELECT, prepared, with binary results that nobody reads: what PostgreSQL takes for the rows and
 * HTTP for a request, and nothing else. The response has the number of rows. It asks for no key.
 */
import Fastify from "fastify"
import { listen } from "./listen.ts"
import { pool } from "./pool.ts"

const db = pool(8)

const query = async (name: string, text: string, values: ReadonlyArray<unknown>): Promise<{ rows: number }> => {
  const types = { getTypeParser: () => (value: unknown) => value }
  const asked = { name, text, values: [...values], types, binary: true, rowMode: "array" as const }
  const { rows } = await db.query<Array<unknown>>(asked)
  return { rows: rows.length }
}

const app = Fastify()
app.get<{ Querystring: { readonly city: string; readonly limit?: string } }>(
  "/rows",
  ({ query: { city, limit = 100 } }) =>
    query("page", "SELECT * FROM orders WHERE city = $1 ORDER BY placed_at DESC, id DESC LIMIT $2", [
      city,
      Number(limit) + 1,
    ]),
)
app.get<{ Querystring: { readonly id: string } }>("/row", ({ query: { id } }) =>
  query("one", "SELECT * FROM orders WHERE id = $1", [id]),
)
await listen(app)
