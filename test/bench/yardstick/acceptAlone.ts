/** The accept statement driven alone: arrays prepared in advance, on as many connections as our server writes with. */
import { type AcceptRequest, appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { parseSubmission } from "@data-cabinet/core/intake/ParseSubmission"
import { Sources } from "@data-cabinet/core/source/Sources"
import { acceptStatement } from "@data-cabinet/store-pg/event/AcceptStatement"
import { planBatch } from "@data-cabinet/store-pg/event/BatchPlan"
import { bodyKeys } from "@data-cabinet/store-pg/event/BodyLocks"
import { planRows } from "@data-cabinet/store-pg/row/EnsureColumns"
import { loadSourceTable } from "@data-cabinet/store-pg/row/SourceTable"
import { PgClient } from "@effect/sql-pg"
import { Context, Effect } from "effect"
import { orderJson } from "../load/request.ts"
import { onLines } from "./onLines.ts"
import { openCabinet } from "./openCabinet.ts"

const WRITERS = 2
const REQUESTS = 2
const EVENTS = 100

type Statement = ReturnType<typeof acceptStatement>

const drive = Effect.gen(function* () {
  const { cabinet } = yield* openCabinet()
  const sql = yield* Effect.provide(PgClient.PgClient, cabinet)
  const sources = Context.get(cabinet, Sources)
  const source = yield* sources.create({ name: "Orders" })
  let n = 0

  const request = (version: number): AcceptRequest => {
    const numbers = Array.from({ length: EVENTS }, () => String(++n).padStart(12, "0"))
    const body = new TextEncoder().encode(`[${numbers.map((number) => orderJson(number)).join(",")}]`)
    const { events, charset } = parseSubmission({ body, contentType: "application/json", query: "", encoding: null })
    const original = {
      body: body.subarray(0, 65_536),
      bodyBytes: body.byteLength,
      contentType: "application/json",
      ip: "127.0.0.1",
      referer: null,
      origin: null,
      userAgent: "bench",
      acceptLanguage: null,
      charset: charset.name,
      charsetFrom: charset.decidedBy,
      replaced: 0,
    }
    return {
      channel: "webhook",
      history: false,
      sourceId: source.id,
      sourceVersion: version,
      events,
      original,
    }
  }

  // The first goes the usual way, so that the table has its columns.
  yield* appendEvents(Context.get(cabinet, EventLog), request(1))
  const table = yield* loadSourceTable(sql, source.id)
  if (table === undefined) return yield* Effect.die("no source")
  const connections = yield* Effect.all(Array.from({ length: WRITERS }, () => sql.reserve))

  const keysOf = bodyKeys("00".repeat(32))
  let ready: Array<Statement> = []
  let rate = 15_000
  const prepare = (seconds: number) => {
    const batches = Math.ceil((rate * seconds * 1.3) / (REQUESTS * EVENTS)) + 10
    ready = Array.from({ length: batches }, () => {
      const requests = Array.from({ length: REQUESTS }, () => request(table.version))
      const { plans } = planRows(
        table.layout,
        requests.flatMap(({ events }) => events),
      )
      return acceptStatement(planBatch(requests, () => ({ table, waits: false, plans }), keysOf))
    })
  }
  const run = async (seconds: number) => {
    const began = performance.now()
    let done = 0
    await Effect.runPromise(
      Effect.forEach(
        connections,
        (connection) =>
          Effect.gen(function* () {
            while (performance.now() - began < seconds * 1000) {
              const next = ready.pop()
              if (next === undefined) return
              yield* connection.execute(next.text, next.values, undefined)
              done += REQUESTS * EVENTS
            }
          }),
        { concurrency: WRITERS },
      ),
    )
    const took = (performance.now() - began) / 1000
    if (done > 0) rate = Math.max(rate, done / took)
    return { done, seconds: took }
  }
  yield* Effect.promise(() =>
    onLines(async ({ prepare: times, seconds }) => {
      if (times !== undefined) {
        const { warmUp, seconds: measured } = times as { warmUp: number; seconds: number }
        prepare(warmUp + measured)
        return {}
      }
      return run(seconds as number)
    }),
  )
})

await Effect.runPromise(Effect.scoped(drive))
