/**
 * Accepts staged rows in order and in slices. Each slice is one short transaction, so that the feed is never held back
 * for long, and advances the import's count in that transaction, so that a row becomes an event exactly once, whatever
 * fails in between. ¶ If a fault in the program stops an import, it ends as failed, with the reason: retrying it
 * endlessly would not help.
 */
import { Clock, Context, Effect, Layer, Option, Result } from "effect"
import { instrument } from "../runtime/Instrument.ts"
import { markedBy } from "../schema/MarkEvents.ts"
import { filteredDeliveries } from "../delivery/FilteredDeliveries.ts"
import { faultInWords, faultName } from "../error/Fault.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { appendEvents, EventLog, type NewEvent } from "../event/EventLog.ts"
import type { JsonObject } from "../json/Json.ts"
import { jsonErrorInWords, parseJson } from "../json/ParseJson.ts"
import type { IntakeSource } from "../source/Source.ts"
import { Sources } from "../source/Sources.ts"
import { turns } from "./Pieces.ts"
import { type ClaimedImport, type LeaseLost, ImportStore, type StagedRow } from "./ImportStore.ts"

/** Rows in one slice: some tens of milliseconds, far below the two seconds for which the feed may be held back. */
const SLICE_ROWS = 500

const RENEW_MILLIS = 10_000

/** The number of attempts without progress, though the database responded each time, after which an import fails. */
const MAX_ATTEMPTS = 60

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
      const ports = { imports: yield* ImportStore, sources: yield* Sources, log: yield* EventLog }
      return AcceptStaged.of({ run: (claimed, onProgress) => new ImportRun(ports, claimed).run(onProgress) })
    }),
  )
}

interface Ports {
  readonly imports: ImportStore["Service"]
  readonly sources: Sources["Service"]
  readonly log: EventLog["Service"]
}

type Failure = LeaseLost | StoreUnavailable

/** One claimed import, from its count to its end. */
class ImportRun {
  readonly #ports: Ports
  readonly #claimed: ClaimedImport
  /** The number of accepted rows, as far as known. Written by `run`. */
  #at: number
  /** When the lease was last renewed. */
  #renewed = 0
  /** How many steps in a row the count did not advance, though the database responded. */
  #stuck = 0
  /** Whether the last step found the database unavailable. */
  #unavailable = false
  /** Loaded in advance; the statement that accepts checks both. Written by `#acceptSlice`. */
  #rows: ReadonlyArray<StagedRow> = []
  #source: IntakeSource | null = null

  constructor(ports: Ports, claimed: ClaimedImport) {
    this.#ports = ports
    this.#claimed = claimed
    this.#at = claimed.accepted
  }

  run(onProgress: ((accepted: number) => Effect.Effect<void>) | undefined): Effect.Effect<AcceptOutcome, LeaseLost> {
    return Effect.gen({ self: this }, function* () {
      this.#renewed = yield* Clock.currentTimeMillis
      while (true) {
        const outcome = yield* this.#step
        if (typeof outcome === "string") return outcome
        // A count that does not advance although nothing else holds the import is a fault of ours: it must not loop for ever.
        this.#stuck = outcome === this.#at && !this.#unavailable ? this.#stuck + 1 : 0
        if (this.#stuck >= MAX_ATTEMPTS)
          return yield* this.#fail(`its rows were not accepted after ${MAX_ATTEMPTS} attempts`)
        if (this.#stuck > 10) yield* Effect.sleep(1000)
        this.#at = outcome
        if (onProgress !== undefined) yield* onProgress(outcome)
      }
    })
  }

  /** Returns the count after the next slice, or the outcome of the import. */
  get #step(): Effect.Effect<number | AcceptOutcome, LeaseLost> {
    return this.#next.pipe(
      // Whether the slice was written is unknown: the count shows it.
      Effect.catchTag("StoreUnavailable", (away) => {
        this.#unavailable = true
        return Effect.sleep(away.retryAfter * 1000).pipe(
          Effect.andThen(this.#ports.imports.renew(this.#claimed)),
          Effect.catchTag("StoreUnavailable", () => Effect.succeed(this.#at)),
        )
      }),
      Effect.catchDefect((fault) =>
        Effect.logError(`import ${this.#claimed.id} failed with an internal error: ${faultName(fault)}`).pipe(
          Effect.andThen(this.#fail(`it ended with an internal error: ${faultInWords(fault)}`)),
        ),
      ),
    )
  }

  get #next(): Effect.Effect<number | AcceptOutcome, Failure> {
    return Effect.gen({ self: this }, function* () {
      const { imports } = this.#ports
      if (this.#at >= this.#claimed.staged) {
        yield* imports.finish(this.#claimed)
        return "done"
      }
      const now = yield* Clock.currentTimeMillis
      if (now - this.#renewed > RENEW_MILLIS) {
        yield* imports.renew(this.#claimed)
        this.#renewed = now
      }
      this.#unavailable = false
      return (yield* this.#acceptSlice) ?? (yield* this.#withoutSource)
    })
  }

  /**
   * Accepts one slice. Returns the count after it, or the actual count if it changed in between; null if the source is not
   * switched on. The next slice is read while this one is being written.
   */
  get #acceptSlice(): Effect.Effect<number | null, Failure> {
    return Effect.gen({ self: this }, function* () {
      const { imports, sources, log } = this.#ports
      const claimed = this.#claimed
      const first = this.#at
      const rows = this.#rows[0]?.n === first ? this.#rows : yield* imports.slice(claimed, first, SLICE_ROWS)
      this.#rows = []
      if (rows.length === 0) return yield* imports.renew(claimed)
      this.#source ??= Option.getOrNull(yield* sources.forIntake(claimed.sourceId))
      if (this.#source === null) return null
      const last = rows.at(-1)!.n + 1
      const { filtered, version, schema } = this.#source
      const read = yield* toEvents(rows)
      const events = yield* Effect.promise(() => markedBy(schema, read))
      const request = {
        sourceId: claimed.sourceId,
        sourceVersion: version,
        channel: claimed.channel,
        history: claimed.history,
        events,
        original: null,
        staged: { importId: claimed.id, first, last },
        ...(claimed.history ? {} : yield* Effect.promise(() => filteredDeliveries(filtered, events))),
      }
      const appended = instrument("import.accept", appendEvents(log, request)).pipe(
        Effect.as(last),
        Effect.catchTag("SourceChanged", () => {
          this.#source = null
          return imports.renew(claimed)
        }),
      )
      const following = last < claimed.staged ? imports.slice(claimed, last, SLICE_ROWS) : Effect.succeed([])
      const [at, next] = yield* Effect.all([appended, following], { concurrency: 2 })
      this.#rows = next
      return at
    })
  }

  /** If the source is switched off, the import waits; if it is deleted, the import can never be accepted. */
  get #withoutSource(): Effect.Effect<AcceptOutcome, Failure> {
    return Effect.gen({ self: this }, function* () {
      const { imports, sources } = this.#ports
      if (Option.isNone(yield* sources.get(this.#claimed.sourceId))) {
        yield* imports.fail(this.#claimed, "the source was deleted before all rows were accepted")
        return "failed"
      }
      yield* imports.release(this.#claimed, "the source is switched off")
      return "waiting"
    })
  }

  /** Ends the import as failed. Retries while the database is unavailable: otherwise the import would be started again. */
  #fail(reason: string): Effect.Effect<AcceptOutcome, LeaseLost> {
    return this.#ports.imports.fail(this.#claimed, reason).pipe(
      Effect.as("failed" as const),
      Effect.catchTag("StoreUnavailable", (away) =>
        Effect.andThen(
          Effect.sleep(away.retryAfter * 1000),
          Effect.suspend(() => this.#fail(reason)),
        ),
      ),
    )
  }
}

const toEvents = Effect.fnUntraced(function* (rows: ReadonlyArray<StagedRow>) {
  const turn = turns()
  const events: Array<NewEvent> = []
  for (const row of rows) {
    events.push(toEvent(row))
    yield* turn(row.payload.length)
  }
  return events
})

/** Staged rows were written by us, so they parse; if one does not, the error names the row. */
const toEvent = (row: StagedRow): NewEvent => {
  const parsed = parseJson(row.payload)
  if (Result.isFailure(parsed)) throw new Error(`row ${row.n + 1} does not parse: ${jsonErrorInWords(parsed.failure)}`)
  return { payload: parsed.success as JsonObject, text: row.payload, empty: row.empty, fingerprint: null }
}
