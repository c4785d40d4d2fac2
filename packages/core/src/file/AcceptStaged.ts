/**
 * Accepts staged rows in order and in slices. Each slice is one short transaction, so that the feed is never held back for
 * long, and advances the import's count in that transaction, so that a row becomes an event exactly once, whatever is lost
 * in between. An import that fails because of a fault in the program ends as failed, with the reason: retrying it for ever
 * would not help.
 */
import { Clock, Context, Effect, Layer, Option, Result } from "effect"
import { instrument } from "../runtime/Instrument.ts"
import { faultInWords, faultName } from "../error/Fault.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { appendEvents, EventLog, type NewEvent } from "../event/EventLog.ts"
import type { JsonObject } from "../json/Json.ts"
import { jsonErrorInWords, parseJson } from "../json/ParseJson.ts"
import type { IntakeSource } from "../source/Source.ts"
import { Sources } from "../source/Sources.ts"
import { turns } from "./Pieces.ts"
import { type ClaimedImport, type LeaseLost, StagedImports, type StagedRow } from "./StagedImports.ts"

/** Rows in one slice: some tens of milliseconds, far below the two seconds for which the feed may be held back. */
const SLICE_ROWS = 500

const RENEW_MILLIS = 10_000

/** The number of attempts without progress, though the database responded each time, after which an import fails. */
const MAX_TRIES = 60

/** `waiting`: its source is switched off; it continues once the source is restored. */
export type AcceptOutcome = "done" | "failed" | "waiting"

export class AcceptStaged extends Context.Service<
  AcceptStaged,
  {
    /** Calls `onProgress` with the count after every slice. Retries while the database is unavailable. */
    readonly run: (
      claimed: ClaimedImport,
      onProgress?: (accepted: number) => Effect.Effect<void>,
    ) => Effect.Effect<AcceptOutcome, LeaseLost>
  }
>()("@data-cabinet/core/file/AcceptStaged") {
  static readonly layer = Layer.effect(
    AcceptStaged,
    Effect.gen(function* () {
      const imports = yield* StagedImports
      const sources = yield* Sources
      const log = yield* EventLog

      /**
       * Accepts one slice. Returns the count after it, or the actual count if it changed in between. The next slice is read
       * while this one is being written.
       */
      const take = Effect.fnUntraced(function* (claimed: ClaimedImport, first: number, ahead: Ahead) {
        const rows = ahead.rows[0]?.n === first ? ahead.rows : yield* imports.slice(claimed, first, SLICE_ROWS)
        ahead.rows = []
        if (rows.length === 0) return yield* imports.renew(claimed)
        ahead.source ??= Option.getOrNull(yield* sources.forIntake(claimed.sourceId))
        if (ahead.source === null) return null
        const last = rows.at(-1)!.n + 1
        const turn = turns()
        const events: Array<NewEvent> = []
        for (const row of rows) {
          events.push(toEvent(row))
          yield* turn(row.payload.length)
        }
        const request = {
          sourceId: claimed.sourceId,
          sourceVersion: ahead.source.version,
          channel: claimed.channel,
          history: claimed.history,
          events,
          original: null,
          staged: { importId: claimed.id, first, last },
        }
        const appended = instrument("import.accept", appendEvents(log, request)).pipe(
          Effect.as(last),
          Effect.catchTag("SourceChanged", () => {
            ahead.source = null
            return imports.renew(claimed)
          }),
        )
        const read = last < claimed.staged ? imports.slice(claimed, last, SLICE_ROWS) : Effect.succeed([])
        const [at, next] = yield* Effect.all([appended, read], { concurrency: 2 })
        ahead.rows = next
        return at
      })

      /** If the source is switched off, the import waits; if it is deleted, the import can never be accepted. */
      const withoutSource = Effect.fnUntraced(function* (
        claimed: ClaimedImport,
      ): Effect.fn.Return<AcceptOutcome, LeaseLost | StoreUnavailable> {
        if (Option.isNone(yield* sources.get(claimed.sourceId))) {
          yield* imports.fail(claimed, "the source was deleted before all rows were accepted")
          return "failed"
        }
        yield* imports.release(claimed, "the source is switched off")
        return "waiting"
      })

      /** Ends the import as failed. Retries while the database is unavailable: otherwise the import would be started again. */
      const fail = (claimed: ClaimedImport, reason: string): Effect.Effect<AcceptOutcome, LeaseLost> =>
        imports.fail(claimed, reason).pipe(
          Effect.as("failed" as const),
          Effect.catchTag("StoreUnavailable", (away) =>
            Effect.andThen(
              Effect.sleep(away.retryAfter * 1000),
              Effect.suspend(() => fail(claimed, reason)),
            ),
          ),
        )

      return AcceptStaged.of({
        run: Effect.fnUntraced(function* (claimed, onProgress) {
          let at = claimed.accepted
          let renewed = yield* Clock.currentTimeMillis
          let stuck = 0
          let unavailable = false
          const ahead: Ahead = { rows: [], source: null }
          while (true) {
            const step = Effect.gen(function* () {
              if (at >= claimed.staged) {
                yield* imports.finish(claimed)
                return "done" as const
              }
              const now = yield* Clock.currentTimeMillis
              if (now - renewed > RENEW_MILLIS) {
                yield* imports.renew(claimed)
                renewed = now
              }
              unavailable = false
              const next = yield* take(claimed, at, ahead)
              return next === null ? yield* withoutSource(claimed) : next
            })
            const outcome = yield* step.pipe(
              // Whether the slice was written is unknown: the count tells.
              Effect.catchTag("StoreUnavailable", (away) => {
                unavailable = true
                return Effect.sleep(away.retryAfter * 1000).pipe(
                  Effect.andThen(imports.renew(claimed)),
                  Effect.catchTag("StoreUnavailable", () => Effect.succeed(at)),
                )
              }),
              Effect.catchDefect((fault) =>
                Effect.logError(`import ${claimed.id} failed by a fault: ${faultName(fault)}`).pipe(
                  Effect.andThen(fail(claimed, `a fault of this program ended it: ${faultInWords(fault)}`)),
                ),
              ),
            )
            if (typeof outcome === "string") return outcome
            // A count that does not advance although nothing else holds the import is a fault of ours: it must not loop for
            // ever.
            stuck = outcome === at && !unavailable ? stuck + 1 : 0
            if (stuck >= MAX_TRIES) return yield* fail(claimed, `its rows were not accepted in ${MAX_TRIES} tries`)
            if (stuck > 10) yield* Effect.sleep(1000)
            at = outcome
            if (onProgress !== undefined) yield* onProgress(at)
          }
        }),
      })
    }),
  )
}

/** Data loaded in advance; the statement that accepts checks both. */
interface Ahead {
  rows: ReadonlyArray<StagedRow>
  source: IntakeSource | null
}

/** Staged rows were written by us, so they parse; if one does not, the error names the row. */
const toEvent = (row: StagedRow): NewEvent => {
  const parsed = parseJson(row.payload)
  if (Result.isFailure(parsed)) throw new Error(`row ${row.n + 1} does not parse: ${jsonErrorInWords(parsed.failure)}`)
  return { payload: parsed.success as JsonObject, text: row.payload, empty: row.empty, fingerprint: null }
}
