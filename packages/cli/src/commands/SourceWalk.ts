/** Goes through all events of a source, page by page, and counts their outcomes. */
import { counted } from "@data-cabinet/core/text/Counted"
import { Clock, Effect } from "effect"
import { progressBar } from "../output/ProgressBar.ts"

interface Verdict {
  readonly outcome: string
  /** Why the outcome is not the wanted one; null if it is. */
  readonly reason: string | null
}

interface Page {
  readonly verdicts: ReadonlyArray<Verdict>
  readonly seen: number
  readonly deliveries: number
  readonly nextCursor: string | null
}

/** How many events had each outcome, by `outcome` or `outcome: reason`. */
export type OutcomeCounts = Readonly<Record<string, number>>

/** `doing` is shown with the progress; `each` sees every page. */
export const walkSource = Effect.fnUntraced(function* <P extends Page, E, R>(
  doing: string,
  pageAfter: (cursor: string | undefined) => Effect.Effect<P, E, R>,
  each: (page: P) => void = () => {},
) {
  const bar = progressBar()
  const counts = new Map<string, number>()
  let seen = 0
  let deliveries = 0
  let cursor: string | undefined
  do {
    const page = yield* pageAfter(cursor)
    for (const { outcome, reason } of page.verdicts) {
      const key = reason === null ? outcome : `${outcome}: ${reason}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    each(page)
    seen += page.seen
    deliveries += page.deliveries
    cursor = page.nextCursor ?? undefined
    bar.count(doing, counted(seen, "event"), yield* Clock.currentTimeMillis)
  } while (cursor !== undefined)
  bar.clear()
  const outcomes: OutcomeCounts = Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)))
  return { seen, outcomes, deliveries }
})

/** A line for each outcome, in words. */
export const outcomeLines = <Outcome extends string, Reason extends string>(
  outcomes: OutcomeCounts,
  words: Readonly<Record<Outcome, string>>,
  reasons: Readonly<Record<Reason, string>>,
): ReadonlyArray<string> =>
  Object.entries(outcomes).map(([key, count]) => {
    const [outcome, reason] = key.split(": ") as [Outcome, Reason | undefined]
    return `  ${words[outcome]}${reason === undefined ? "" : `: ${reasons[reason]}`}: ${count}`
  })
