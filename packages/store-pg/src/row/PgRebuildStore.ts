/**
 * Rebuilds the tables of sources. A trigger notes the rows that change, so that they are written again: accepted, deferred
 * and restored events, the trash, rereadings, and changes by hand. Nothing needs to know of the rebuild.
 *
 * Its process has the lease of a follower of kind `rebuild`, and compares the lease in every transaction. When the lease ends,
 * any serving process removes what it has written.
 *
 * Decision: docs/decisions/0094-tables-are-rebuilt-beside-the-old-one.md
 */
import { type DecideRebuild, NotRebuilt, type RebuildProgress, RebuildStore } from "@data-cabinet/core/row/RebuildStore"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { StatementClient } from "../connection/OwnerClient.ts"
import type { Ask } from "../connection/SessionEnd.ts"
import { connectionLossAsError, orUnavailable } from "../connection/StoreFailure.ts"
import { patiently } from "./PatientSession.ts"
import { Rebuild } from "./Rebuild.ts"
import { rebuildFacts } from "./RebuildFacts.ts"
import { begin, findRebuild, heartbeat, remove } from "./RebuildLease.ts"

type Sql = PgClient.PgClient

const run = <E>(
  sql: Sql,
  ask: Ask,
  sourceId: number,
  decide: DecideRebuild<E>,
  report: (progress: RebuildProgress) => Effect.Effect<void>,
) =>
  Effect.gen(function* () {
    const before = yield* findRebuild(sql, sourceId)
    if (before?.held === true) {
      return yield* new NotRebuilt({ fact: { is: "running", holder: before.holder } })
    }
    // The remains of a process that was lost.
    if (before !== undefined) yield* remove(sql, { ...before, sourceId })
    const facts = yield* rebuildFacts(sql, sourceId)
    const plan = yield* Effect.fromResult(decide(facts))
    const table = facts.table!.name!
    return yield* Effect.acquireUseRelease(
      begin(sql, sourceId, table, plan),
      (held) => {
        const work = new Rebuild(sql, held, { table, plan, rows: facts.rows, report, ask })
        return Effect.raceFirst(work.run, heartbeat(sql, held, work))
      },
      (held, exit) =>
        exit._tag === "Success" ? Effect.void : Effect.ignoreCause(connectionLossAsError(remove(sql, held))),
    )
  })

export const layer = Layer.effect(
  RebuildStore,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const statements = yield* StatementClient
    const ask: Ask = (statement, values) => statements.values(statement, values)
    return RebuildStore.of({
      facts: (sourceId) => patiently(rebuildFacts(sql, sourceId)),
      run: (sourceId, decide, report) => patiently(run(sql, ask, sourceId, decide, report)),
      cancel: (sourceId) =>
        patiently(
          Effect.gen(function* () {
            const found = yield* findRebuild(sql, sourceId)
            if (found === undefined) return false
            yield* remove(sql, { ...found, sourceId })
            return true
          }),
        ),
      clean: (id, lease) =>
        orUnavailable(
          Effect.gen(function* () {
            const [found] = yield* sql.unsafe<{ name: string }>(
              "SELECT name FROM cabinet.follower WHERE id = $1::int8 AND lease = $2::int8",
              [id, lease],
            )
            if (found !== undefined) yield* remove(sql, { id, lease, sourceId: Number(found.name) })
          }).pipe(Effect.catchTag("NotRebuilt", () => Effect.void)),
        ),
    })
  }),
)
