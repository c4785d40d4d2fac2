/** For how long a key or a token is valid, from the moment it is issued. */

const UNITS: Readonly<Record<string, number>> = { m: 60, h: 3600, d: 86_400 }

/** Ten years: for a longer life, leave the expiry out, which means no expiry. */
const MAX_LIFETIME_SECONDS = 3_650 * 86_400
const MIN_LIFETIME_SECONDS = 60

/** True for whole seconds within the limits. */
export const isLifetime = (seconds: number): boolean =>
  Number.isInteger(seconds) && seconds >= MIN_LIFETIME_SECONDS && seconds <= MAX_LIFETIME_SECONDS

/** As `parseLifetime` reads it, if it is whole minutes; else in seconds. */
export const lifetimeText = (seconds: number): string => {
  const [unit, size] = Object.entries(UNITS).findLast(([, each]) => seconds % each === 0) ?? ["s", 1]
  return `${seconds / size}${unit}`
}

/** Parses `90d`, `12h`, `30m` to seconds; null for anything else, and for more than ten years. */
export const parseLifetime = (text: string): number | null => {
  const parts = /^([1-9]\d{0,6})([mhd])$/.exec(text.trim())
  if (parts === null) return null
  const seconds = Number(parts[1]) * UNITS[parts[2]!]!
  return isLifetime(seconds) ? seconds : null
}
