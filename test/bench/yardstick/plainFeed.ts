/**
 * plain with a key: the feed by pages of (xid, id) behind the usual fence, one prepared SELECT a page, rows as the driver
 * returns them, JSON.stringify. Before, the key is looked up and the request counted.
 */
import Fastify from "fastify"
import { countKey } from "./keyAndRate.ts"
import { listen } from "./listen.ts"
import { pool } from "./pool.ts"

const db = pool(8)

interface Row {
  readonly id: string
  readonly xid: string
  readonly source_id: number
  readonly source_name: string
  readonly channel: string
  readonly received_at: Date
  readonly payload: unknown
  readonly repeat_of: string | null
  readonly history: boolean
  readonly deleted_at: Date | null
}

const PAGE = `
  SELECT id, xid, source_id, source_name, channel, received_at, payload, repeat_of, history, deleted_at FROM event
  WHERE (xid, id) > ($1, $2) AND xid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
  ORDER BY xid, id LIMIT $3`

const app = Fastify()
app.addHook("onRequest", async (request) => void (await countKey(db, request)))
app.get<{ Querystring: { cursor?: string; limit: string } }>("/events", async ({ query }) => {
  const limit = Number(query.limit)
  const [xid, id] = query.cursor === undefined ? ["0", "0"] : atob(query.cursor).split(",")
  const { rows } = await db.query<Row>({ name: "page", text: PAGE, values: [xid, id, limit + 1] })
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    data: page.map((row) => ({
      id: Number(row.id),
      source: { id: row.source_id, name: row.source_name },
      channel: row.channel,
      received_at: row.received_at,
      payload: row.payload,
      repeat_of: row.repeat_of === null ? null : Number(row.repeat_of),
      history: row.history,
      deleted_at: row.deleted_at,
    })),
    has_more: rows.length > limit,
    next_cursor: last === undefined ? (query.cursor ?? null) : btoa(`${last.xid},${last.id}`),
  }
})
await listen(app)
