/**
 * A process that accepts events until it is killed: `node feedWriter.ts <url> <source id> <seed>`. Half of its accepts use the
 * event log, like a server. The others run the log's statement, hold it open for a moment, and then commit or abort. It
 * reports each event to its parent after the commit.
 */
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { acceptStatement } from "@data-cabinet/store-pg/event/AcceptStatement"
import { planBatch } from "@data-cabinet/store-pg/event/BatchPlan"
import { BODY_SECRET, bodyKeys } from "@data-cabinet/store-pg/event/BodyLocks"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { testCabinet } from "../support/testCabinet.ts"
import { requestOf } from "./acceptRequest.ts"

/** A seeded generator, so that a failing run can be repeated. */
const random = (seed: number) => () => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
  return seed / 2_147_483_648
}

/** Bodies that all writers send: the first accepted one is an original, and the others are repeats. */
const SHARED_BODIES = 5

const writer = Effect.fnUntraced(function* (sourceId: number, seed: number, lane: number) {
  const sql = yield* PgClient.PgClient
  const log = yield* EventLog
  const dice = random(seed * 31 + lane)
  for (let round = 0; ; round++) {
    const shared = dice() < 0.3
    const body = shared ? `shared ${Math.floor(dice() * SHARED_BODIES)}` : `${seed}/${lane}/${round}`
    const request = requestOf(sourceId, body, shared, dice() < 0.2)
    const accept: Effect.Effect<number, unknown> =
      lane % 2 === 0
        ? Effect.map(appendEvents(log, request), ([receipt]) => receipt!.id)
        : Effect.gen(function* () {
            const [opened] = yield* sql.unsafe<{ secret: string }>(
              `SELECT cabinet.check_epoch(), ${BODY_SECRET} AS secret`,
            )
            const keysOf = bodyKeys(opened!.secret)
            const batch = planBatch([request], () => ({ table: undefined, waits: false }), keysOf)
            const { text, values } = acceptStatement(batch)
            return yield* sql.withTransaction(
              Effect.gen(function* () {
                const [row] = yield* sql.unsafe<{ id: bigint }>(text, values)
                yield* sql.unsafe(`SELECT pg_sleep(${(dice() * dice() * 0.1).toFixed(4)})`)
                if (dice() < 0.2) return yield* Effect.fail("aborted" as const)
                return Number(row!.id)
              }),
            )
          })
    yield* accept.pipe(
      Effect.tap((id) => Effect.sync(() => process.send?.({ id, body }))),
      Effect.catchCause(() => Effect.sleep("20 millis")),
    )
  }
})

const [url, sourceId, seed] = process.argv.slice(2)
const lanes = Effect.forEach([0, 1, 2, 3], (lane) => writer(Number(sourceId), Number(seed), lane), {
  concurrency: "unbounded",
})
process.once("disconnect", () => process.exit(0))
await testCabinet(url!).runPromise(lanes)
