/** Cold history in the hands of its operator: whether its files are whole, and how events come back into the database. */
import { Context, Effect, Layer, Schema } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { isTimestamp } from "../text/Timestamp.ts"
import { type ColdFailure, type ColdFile, ColdFiles } from "./ColdFiles.ts"
import { named } from "./ColdOverview.ts"
import { ColdStore, type ListedFile } from "./ColdStore.ts"
import { readWhole } from "./MoveEvents.ts"

/** The error for a refused range. */
export class ColdError extends Schema.TaggedError<ColdError>()("ColdError", {
  code: Schema.Literals(["bad_range", "files_unreadable"]),
  message: Schema.String,
}) {}

/** A file that was read whole. */
export interface CheckedFile {
  readonly name: string
  readonly events: number
  /** What is wrong with it; null if nothing is. */
  readonly problem: string | null
}

/** What came back. */
export interface Thawed {
  readonly files: number
  readonly events: number
}

/** What a range must be. */
export const RANGE_EXPECTED = "all, or two dates or times such as 2025-01-01..2025-03-31, the last one included"

type Range = readonly [from: number, to: number]

const DAY_MILLIS = 86_400_000

const momentOf = (text: string, isEnd: boolean): number => {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text)
  if (!isDay && !isTimestamp(text)) return Number.NaN
  return Date.parse(text) + (isDay && isEnd ? DAY_MILLIS - 1 : 0)
}

/** Null for a text that is not a range. */
export const parseRange = (text: string): Range | null => {
  if (text === "all") return [-Infinity, Infinity]
  const [from = "", to = "", ...rest] = text.split("..")
  const range: Range = [momentOf(from, false), momentOf(to, true)]
  return rest.length === 0 && range[0] <= range[1] ? range : null
}

const AT_ONCE = 1_000

const unreadable = ({ message }: ColdFailure) => Effect.fail(new ColdError({ code: "files_unreadable", message }))

export class ColdHistory extends Context.Service<
  ColdHistory,
  {
    /** Reads every file whole, and compares it with what was written. */
    readonly verify: Effect.Effect<ReadonlyArray<CheckedFile>, StoreUnavailable>
    /** Brings the events of all files back that have one received in a range, for good, and removes the files. */
    readonly thaw: (range: string) => Effect.Effect<Thawed, ColdError | StoreUnavailable>
  }
>()("@data-cabinet/core/cold/ColdHistory") {
  static readonly layer = Layer.effect(
    ColdHistory,
    Effect.gen(function* () {
      const store = yield* ColdStore
      const files = yield* ColdFiles

      const check = (file: ListedFile & { readonly name: string }) =>
        readWhole(file.name).pipe(
          Effect.map(({ events, digest }) => {
            const isSame = events === file.events && digest === file.digest
            return isSame ? null : "Its events are not those that were written."
          }),
          Effect.catch(({ message }) => Effect.succeed(message)),
          Effect.map((problem): CheckedFile => ({ name: file.name, events: file.events, problem })),
          Effect.provideService(ColdFiles, files),
        )

      const bringBack = Effect.fnUntraced(function* (listed: ListedFile & { readonly name: string }) {
        const file: ColdFile = yield* files.open(listed.name)
        if (!(yield* store.beginThaw(listed))) return false
        for (const index of file.groups.keys()) {
          const events = yield* file.read(index)
          for (let at = 0; at < events.length; at += AT_ONCE) {
            if (!(yield* store.bringBack(listed, events.slice(at, at + AT_ONCE)))) return false
          }
        }
        yield* store.endThaw(listed)
        return true
      })

      return ColdHistory.of({
        verify: Effect.flatMap(store.files, (all) => Effect.forEach(named(all), check)),
        thaw: Effect.fnUntraced(function* (text) {
          const range = parseRange(text)
          if (range === null) {
            const message = `${JSON.stringify(text)} is not a range: it must be ${RANGE_EXPECTED}.`
            return yield* new ColdError({ code: "bad_range", message })
          }
          const thawed = { files: 0, events: 0 }
          for (const file of named(yield* store.files)) {
            if (Date.parse(file.to) < range[0] || Date.parse(file.from) > range[1]) continue
            if (!(yield* Effect.catchTag(bringBack(file), "ColdFailure", unreadable))) continue
            thawed.files++
            thawed.events += file.events
          }
          return thawed
        }),
      })
    }),
  )
}
