/**
 * plain: reads by `SELECT` and `JSON.stringify`. One prepared statement a page, keyset paging, rows as the driver returns
 * them. With WITH_KEY, each request's key is looked up and the request counted first.
 */
import Fastify from "fastify"
import { countKey } from "./keyAndRate.ts"
import { listen } from "./listen.ts"
import { pool } from "./pool.ts"

const db = pool(8)

interface Query {
  readonly city: string
  readonly limit?: string
  readonly cursor?: string
}

const app = Fastify()
if (process.env["WITH_KEY"] === "yes") app.addHook("onRequest", async (request) => void (await countKey(db, request)))
app.get<{ Querystring: Query }>("/rows", async ({ query }) => {
  const limit = Number(query.limit ?? 100)
  const after = query.cursor === undefined ? null : (JSON.parse(atob(query.cursor)) as ReadonlyArray<unknown>)
  const { rows, fields } = await db.query<Record<string, unknown>>(
    after === null
      ? {
          name: "first",
          text: "SELECT * FROM orders WHERE city = $1 ORDER BY placed_at DESC, id DESC LIMIT $2",
          values: [query.city, limit + 1],
        }
      : {
          name: "next",
          text: `SELECT * FROM orders WHERE city = $1 AND (placed_at, id) < ($3, $4)
                 ORDER BY placed_at DESC, id DESC LIMIT $2`,
          values: [query.city, limit + 1, ...after],
        },
  )
  const data = rows.slice(0, limit)
  const last = data.at(-1)
  const more = rows.length > limit
  return {
    data,
    has_more: more,
    next_cursor: more && last ? btoa(JSON.stringify([last["placed_at"], last["id"]])) : null,
    columns: fields.map(({ name }) => ({ name, label: name, comment: null })),
  }
})
app.get<{ Querystring: { readonly id: string } }>("/row", async ({ query }) => {
  const { rows, fields } = await db.query<Record<string, unknown>>({
    name: "one",
    text: "SELECT * FROM orders WHERE id = $1",
    values: [query.id],
  })
  return {
    data: rows,
    has_more: false,
    next_cursor: null,
    columns: fields.map(({ name }) => ({ name, label: name, comment: null })),
  }
})
app.get<{ Querystring: { readonly text: string } }>("/contains", async ({ query }) => {
  const { rows, fields } = await db.query<Record<string, unknown>>({
    name: "contains",
    text: "SELECT * FROM orders WHERE note ILIKE $1 ORDER BY id LIMIT 101",
    values: [`%${query.text}%`],
  })
  return {
    data: rows.slice(0, 100),
    has_more: rows.length > 100,
    next_cursor: null,
    columns: fields.map(({ name }) => ({ name, label: name, comment: null })),
  }
})
await listen(app)
