/**
 * Accepts what is staged, in order and in slices: each is one short transaction, so that the feed is never held for
 * long, and each moves the import's count on in that transaction, so that a row is an event exactly once whatever is
 * lost in between. What fails by a fault of the program ends as failed, in words: trying for ever would help nobody.
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

/** Rows of one slice: some tens of milliseconds, far below the two seconds that the feed may be held. */
const SLICE_ROWS = 500

const RENEW_MILLIS = 10_000

/** Tries without any progress, though the database answered each time, after which an import has failed. */
const MAX_TRIES = 60

/** `waiting`: its source is switched off; it goes on once it is restored. */
export type AcceptOutcome = "done" | "failed" | "waiting"

export class AcceptStaged extends Context.Service<
  AcceptStaged,
  {
    /** `onProgress` is told the count after every slice. Keeps trying while the database is away. */
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
       * One slice; the count after it, or where it really stands when something came between. The next slice is read
       * while this one is written.
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

      /** Switched off, it waits; deleted, nothing can become of it any more. */
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

      /** Ends it as failed. Keeps trying while the database is away: else it would be begun again. */
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
              // Whether the slice was written is not known: the count says it.
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
            // A count that does not move although nothing else holds it would be a fault of ours: not a loop for ever.
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

/** What is known before it is needed: both are checked by the statement that accepts. */
interface Ahead {
  rows: ReadonlyArray<StagedRow>
  source: IntakeSource | null
}

/** What was staged was written by us, so it parses; if not, it is said which row that was. */
const toEvent = (row: StagedRow): NewEvent => {
  const parsed = parseJson(row.payload)
  if (Result.isFailure(parsed)) throw new Error(`row ${row.n + 1} does not parse: ${jsonErrorInWords(parsed.failure)}`)
  return { payload: parsed.success as JsonObject, text: row.payload, empty: row.empty, fingerprint: null }
}
