/** When a poll runs next: at its interval, and less often while it fails. */

/** The shortest interval. */
export const MIN_SECONDS = 10
/** The longest interval. */
export const MAX_SECONDS = 30 * 24 * 3600

/** A failing poll runs at least this often, unless its interval is longer. */
const MAX_BACKOFF_SECONDS = 6 * 3600

/**
 * Seconds until the next run. `failures` counts the consecutive failed runs including this one, 0 after a successful run; a
 * `Retry-After` is respected.
 */
export const nextSeconds = (everySeconds: number, failures: number, retryAfter: number | null): number => {
  const backoff = everySeconds * 2 ** Math.min(failures, 30)
  const limit = Math.max(everySeconds, MAX_BACKOFF_SECONDS)
  return Math.min(limit, Math.max(backoff, failures > 0 ? (retryAfter ?? 0) : 0))
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Parses `30s`, `15m`, `2h`, `1d` to seconds; null for anything else, and for values out of range. */
export const parseInterval = (text: string): number | null => {
  const parts = /^([1-9]\d{0,6})([smhd])$/.exec(text.trim())
  if (parts === null) return null
  const seconds = Number(parts[1]) * UNITS[parts[2]!]!
  return isInterval(seconds) ? seconds : null
}

/** The shortest text that `parseInterval` reads as these seconds. */
export const intervalText = (seconds: number): string => {
  const unit = ["d", "h", "m"].find((letter) => seconds % (UNITS[letter] ?? 1) === 0) ?? "s"
  return `${seconds / UNITS[unit]!}${unit}`
}

/** True for whole seconds within the limits. */
export const isInterval = (seconds: number): boolean =>
  Number.isInteger(seconds) && seconds >= MIN_SECONDS && seconds <= MAX_SECONDS

/** The seconds of a `Retry-After` header; null for a date or an invalid value. */
export const retryAfterOf = (header: string | undefined): number | null =>
  header !== undefined && /^\d{1,7}$/.test(header.trim()) ? Number(header.trim()) : null
