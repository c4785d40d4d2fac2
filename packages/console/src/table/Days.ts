/** Periods that are named by today: each becomes the dates of its first and last day. */

export const DAYS = ["today", "yesterday", "last7", "last30", "month", "lastMonth"] as const
export type Days = (typeof DAYS)[number]

/** The date in a time zone. */
export const todayIn = (timeZone: string, millis: number): string =>
  new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short" }).format(millis)

const dateOf = (date: Date): string => date.toISOString().slice(0, "2026-11-29".length)

/** The dates of the first and the last day. Null if no such period exists. */
export const daysOf = (name: string, today: string): readonly [string, string] | null => {
  const [year = 0, month = 0, day = 0] = today.split("-").map(Number)
  const at = (monthsOn: number, ofMonth: number): string =>
    dateOf(new Date(Date.UTC(year, month - 1 + monthsOn, ofMonth)))
  const periods: Readonly<Record<Days, readonly [string, string]>> = {
    today: [today, today],
    yesterday: [at(0, day - 1), at(0, day - 1)],
    last7: [at(0, day - 6), today],
    last30: [at(0, day - 29), today],
    // Day 0 is the last one of the month before.
    month: [at(0, 1), at(1, 0)],
    lastMonth: [at(-1, 1), at(0, 0)],
  }
  return DAYS.some((one) => one === name) ? periods[name as Days] : null
}
