/** Times as the cabinet's people speak of them: in its own time zone, where "today" begins at its midnight. */

const MINUTE = 60_000

/** How far the zone is ahead of UTC at that time, as RFC 3339 has it, such as `+01:00`. */
const offsetOf = (zone: string, millis: number): string => {
  const parts = new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "longOffset" }).formatToParts(millis)
  const name = parts.find(({ type }) => type === "timeZoneName")?.value ?? ""
  return /[+-]\d\d:\d\d/.exec(name)?.[0] ?? "+00:00"
}

const millisOf = (offset: string): number => {
  const minutes = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4))
  return (offset.startsWith("-") ? -minutes : minutes) * MINUTE
}

/** A time in the zone, RFC 3339 to the second. */
export const localTime = (zone: string, millis: number): string => {
  const offset = offsetOf(zone, millis)
  return `${new Date(millis + millisOf(offset)).toISOString().slice(0, 19)}${offset}`
}

/** Undefined for a text that is not a day such as 2026-11-29. */
export const dayStart = (zone: string, day: string): string | undefined => {
  const midnight = /^\d{4}-\d\d-\d\d$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(day)) return undefined
  // The offset at UTC's midnight may be that of the other side of a change of clocks.
  const near = midnight - millisOf(offsetOf(zone, midnight))
  return new Date(midnight - millisOf(offsetOf(zone, near))).toISOString()
}
