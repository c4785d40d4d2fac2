/**
 * Days and moments as PostgreSQL sends them, counted from 2000, and their JSON: as `to_json` makes it of a session with ISO
 * dates, and with a Z where the moment is one in UTC.
 */
import { ascii, DASH, digits, four, pair, POINT, QUOTE, ZERO } from "./JsonBytes.ts"
import { bigAt, int32At, int64At, type SentForm } from "./SentValue.ts"

const COLON = 0x3a

const MICROS_A_DAY = 86_400_000_000

/** From 1 March of the year 0, from where days are easily counted in months, to 1 January 2000. */
const DAYS_TO_2000 = 730_425
const DAYS_IN_400_YEARS = 146_097

/** 1 January of the year 1; the years before it are counted backwards, from 1 too. */
const FIRST_OF_ERA = -730_119

/** The day that is so many after 1 January 2000, as `2026-01-02`. */
const writeDay = (to: Uint8Array, at: number, days: number): number => {
  const era = Math.floor((days + DAYS_TO_2000) / DAYS_IN_400_YEARS)
  const ofEra = days + DAYS_TO_2000 - era * DAYS_IN_400_YEARS
  const leapDays = ((ofEra / 1_460) | 0) - ((ofEra / 36_524) | 0) + ((ofEra / 146_096) | 0)
  const yearOfEra = ((ofEra - leapDays) / 365) | 0
  const ofYear = ofEra - yearOfEra * 365 - (yearOfEra >> 2) + ((yearOfEra / 100) | 0)
  const fromMarch = ((5 * ofYear + 2) / 153) | 0
  const ofMonth = ofYear - (((153 * fromMarch + 2) / 5) | 0) + 1
  const year = yearOfEra + era * 400 + (fromMarch < 10 ? 0 : 1)
  const shown = days < FIRST_OF_ERA ? 1 - year : year
  const end = shown < 10_000 ? four(to, at, shown) : digits(to, at, shown)
  to[end] = DASH
  pair(to, end + 1, fromMarch < 10 ? fromMarch + 3 : fromMarch - 9)
  to[end + 3] = DASH
  return pair(to, end + 4, ofMonth)
}

/** The time that is so many microseconds after midnight, as `T03:04:05.06`. */
const writeTime = (to: Uint8Array, at: number, micros: number): number => {
  const seconds = Math.floor(micros / 1_000_000)
  const fraction = micros - seconds * 1_000_000
  const minutes = (seconds / 60) | 0
  const hours = (minutes / 60) | 0
  to[at] = 0x54 // T
  pair(to, at + 1, hours)
  to[at + 3] = COLON
  pair(to, at + 4, minutes - hours * 60)
  to[at + 6] = COLON
  pair(to, at + 7, seconds - minutes * 60)
  if (fraction === 0) return at + 9
  to[at + 9] = POINT
  const thousands = (fraction / 1_000) | 0
  pair(to, at + 10, (thousands / 10) | 0)
  four(to, at + 12, fraction - ((thousands / 10) | 0) * 10_000)
  let end = at + 16
  while (to[end - 1] === ZERO) end--
  return end
}

/** `zone` stands behind the time. */
const writeMoment = (to: Uint8Array, at: number, days: number, micros: number, zone: string): number => {
  to[at] = QUOTE
  const end = ascii(to, writeTime(to, writeDay(to, at + 1, days), micros), zone)
  return ascii(to, end, days < FIRST_OF_ERA ? ' BC"' : '"')
}

export const DATE: SentForm = {
  write: (to, at, sent, start) => {
    const days = int32At(sent, start)
    if (days === 0x7fff_ffff) return ascii(to, at, '"infinity"')
    if (days === -0x8000_0000) return ascii(to, at, '"-infinity"')
    to[at] = QUOTE
    return ascii(to, writeDay(to, at + 1, days), days < FIRST_OF_ERA ? ' BC"' : '"')
  },
}

const FOREVER = 2n ** 63n - 1n
const SINCE_EVER = -(2n ** 63n)

const moment = (zone: string): SentForm => ({
  write: (to, at, sent, start) => {
    const micros = int64At(sent, start)
    const days = Math.floor(micros / MICROS_A_DAY)
    if (Number.isSafeInteger(micros)) return writeMoment(to, at, days, micros - days * MICROS_A_DAY, zone)
    const exact = bigAt(sent, start)
    if (exact === FOREVER) return ascii(to, at, '"infinity"')
    if (exact === SINCE_EVER) return ascii(to, at, '"-infinity"')
    const ofDay = ((exact % DAY) + DAY) % DAY
    return writeMoment(to, at, Number((exact - ofDay) / DAY), Number(ofDay), zone)
  },
})

const DAY = BigInt(MICROS_A_DAY)

export const TIMESTAMP = moment("")

/** Sent in UTC, whatever the session's zone is. */
export const TIMESTAMPTZ = moment("Z")
