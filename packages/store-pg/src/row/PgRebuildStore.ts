/**
 * Rebuilds the tables of sources. A trigger notes the rows that change, so that they are written again: accepted, deferred
 * and restored events, the trash, rereadings, and changes by hand. Nothing needs to know of the rebuild.
 *
 * Its process has the lease of a follower of kind `rebuild`, and compares the lease in every transaction. When the lease ends,
 * any serving process removes what it has written.
 *
 * Decision: docs/decisions/0094-tables-are-rebuilt-beside-the-old-one.md
 */
import type { RebuildProgress } from "@data-cabinet/core/row/RebuildState"
import { type DecideRebuild, NotRebuilt, RebuildStore } from "@data-cabinet/core/row/RebuildStore"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { ColdActs } from "../cold/ColdActs.ts"
import { StatementClient } from "../connection/OwnerClient.ts"
import type { Ask } from "../connection/SessionEnd.ts"
import { connectionLossAsError, orUnavailable } from "../connection/StoreFailure.ts"
import { patiently } from "./PatientSession.ts"
import { Rebuild } from "./Rebuild.ts"
import { endingFor, endingOf, stateOf, type StoredState } from "./RebuildEnding.ts"
import { rebuildFacts } from "./RebuildFacts.ts"
import { abandon, begin, createNew, findRebuild, heartbeat, remove, SHORT_ATTEMPTS } from "./RebuildLease.ts"
import * as Statement from "./RebuildStatement.ts"

type Sql = PgClient.PgClient

const run = <E extends { readonly code: string; readonly message: string }>(
  sql: Sql,
  ask: Ask,
  cold: ColdActs["Service"],
  sourceId: number,
  decide: DecideRebuild<E>,
  report: (progress: RebuildProgress) => Effect.Effect<void>,
) =>
  Effect.gen(function* () {
    const before = yield* findRebuild(sql, sourceId)
    if (before?.held === true) {
      return yield* new NotRebuilt({ fact: { is: "running", holder: before.holder } })
    }
    // The remains of a process that was lost, or of a cancelled rebuild.
    if (before !== undefined) yield* remove(sql, { ...before, sourceId }, endingOf(sourceId, "lost"), SHORT_ATTEMPTS)
    return yield* Effect.acquireUseRelease(
      begin(sql, sourceId),
      (held) => {
        let isSwapping = () => false
        const work = Effect.gen(function* () {
          yield* report({ step: "plan", done: 0, rows: 0 })
          const facts = yield* rebuildFacts(sql, sourceId)
          const plan = yield* Effect.fromResult(decide(facts))
          const table = facts.table!.name!
          yield* createNew(sql, held, table, plan)
          const rebuild = new Rebuild(sql, held, { table, plan, rows: facts.rows, report, ask, cold })
          isSwapping = () => rebuild.isSwapping
          return yield* rebuild.run
        })
        return Effect.raceFirst(
          work,
          heartbeat(sql, held, () => isSwapping()),
        )
      },
      (held, exit) =>
        exit._tag === "Success"
          ? Effect.void
          : Effect.ignoreCause(connectionLossAsError(abandon(sql, held, endingFor(sourceId, exit.cause)))),
    )
  })

export const layer = Layer.effect(
  RebuildStore,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const statements = yield* StatementClient
    const cold = yield* ColdActs
    const ask: Ask = (statement, values) => statements.values(statement, values)
    return RebuildStore.of({
      facts: (sourceId) => patiently(rebuildFacts(sql, sourceId)),
      run: (sourceId, decide, report) => patiently(run(sql, ask, cold, sourceId, decide, report)),
      cancel: (sourceId) =>
        patiently(
          Effect.gen(function* () {
            const found = yield* findRebuild(sql, sourceId)
            if (found === undefined) return false
            yield* abandon(sql, { ...found, sourceId }, endingOf(sourceId, "cancelled"))
            return found.held
          }),
        ),
      state: (sourceId) =>
        orUnavailable(
          Effect.map(sql.unsafe<StoredState>(Statement.STATE, [sourceId]), ([found]) =>
            found === undefined ? null : stateOf(found),
          ),
        ),
      lacks: (sourceId, id, indexes) =>
        orUnavailable(Effect.asVoid(sql.unsafe(Statement.LACKS, [sourceId, id, JSON.stringify(indexes)]))),
      clean: (id, lease) =>
        orUnavailable(
          Effect.gen(function* () {
            const [found] = yield* sql.unsafe<{ name: string }>(
              "SELECT name FROM cabinet.follower WHERE id = $1::int8 AND lease = $2::int8",
              [id, lease],
            )
            if (found === undefined) return
            const sourceId = Number(found.name)
            yield* remove(sql, { id, lease, sourceId }, endingOf(sourceId, "lost"))
          }).pipe(Effect.catchTag("NotRebuilt", () => Effect.void)),
        ),
    })
  }),
)
