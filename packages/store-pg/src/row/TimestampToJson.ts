/**
 * Encodes dates and timestamps, which PostgreSQL counts from 2000, as JSON. The result is that of `to_json` with ISO dates,
 * and with a Z for timestamps in UTC.
 */
import { DASH, digits, fourDigits, JsonFragment, twoDigits, POINT, QUOTE, ZERO } from "./JsonWriter.ts"
import { int64At, type JsonEncoder } from "./ValueToJson.ts"

const COLON = 0x3a

const MICROS_A_DAY = 86_400_000_000
const DAY = BigInt(MICROS_A_DAY)

/** Days from 1 March of the year 0 to 1 January 2000. Months are easy to compute from that origin. */
const DAYS_TO_2000 = 730_425
const DAYS_IN_400_YEARS = 146_097

/** 1 January of the year 1. Earlier years count backwards, also from 1. */
const FIRST_OF_ERA = -730_119

/** Writes the date `days` after 1 January 2000, as `2026-01-02`. */
const writeDay = (to: DataView, at: number, days: number): number => {
  const era = Math.floor((days + DAYS_TO_2000) / DAYS_IN_400_YEARS)
  const ofEra = days + DAYS_TO_2000 - era * DAYS_IN_400_YEARS
  const leapDays = ((ofEra / 1_460) | 0) - ((ofEra / 36_524) | 0) + ((ofEra / 146_096) | 0)
  const yearOfEra = ((ofEra - leapDays) / 365) | 0
  const ofYear = ofEra - yearOfEra * 365 - (yearOfEra >> 2) + ((yearOfEra / 100) | 0)
  const fromMarch = ((5 * ofYear + 2) / 153) | 0
  const ofMonth = ofYear - (((153 * fromMarch + 2) / 5) | 0) + 1
  const year = yearOfEra + era * 400 + (fromMarch < 10 ? 0 : 1)
  const shown = days < FIRST_OF_ERA ? 1 - year : year
  const end = shown < 10_000 ? fourDigits(to, at, shown) : digits(to, at, shown)
  to.setUint8(end, DASH)
  twoDigits(to, end + 1, fromMarch < 10 ? fromMarch + 3 : fromMarch - 9)
  to.setUint8(end + 3, DASH)
  return twoDigits(to, end + 4, ofMonth)
}

/** Writes the time `micros` microseconds after midnight, as `T03:04:05.06`. */
const writeTime = (to: DataView, at: number, micros: number): number => {
  const seconds = (micros / 1_000_000) | 0
  const fraction = (micros - seconds * 1_000_000) | 0
  const minutes = (seconds / 60) | 0
  const hours = (minutes / 60) | 0
  to.setUint8(at, 0x54) // T
  twoDigits(to, at + 1, hours)
  to.setUint8(at + 3, COLON)
  twoDigits(to, at + 4, minutes - hours * 60)
  to.setUint8(at + 6, COLON)
  twoDigits(to, at + 7, seconds - minutes * 60)
  if (fraction === 0) return at + 9
  to.setUint8(at + 9, POINT)
  const thousands = (fraction / 1_000) | 0
  twoDigits(to, at + 10, (thousands / 10) | 0)
  fourDigits(to, at + 12, fraction - ((thousands / 10) | 0) * 10_000)
  let end = at + 16
  while (to.getUint8(end - 1) === ZERO) end--
  return end
}

/** The suffix of a date or a time, AD and BC. */
interface Ending {
  readonly since: JsonFragment
  readonly before: JsonFragment
}

const ending = (zone: string): Ending => ({
  since: new JsonFragment(`${zone}"`),
  before: new JsonFragment(`${zone} BC"`),
})

const end = (to: DataView, at: number, days: number, { since, before }: Ending): number =>
  (days < FIRST_OF_ERA ? before : since).write(to, at)

const FOREVER = new JsonFragment('"infinity"')
const SINCE_EVER = new JsonFragment('"-infinity"')

const DAY_END = ending("")

export const DATE: JsonEncoder = {
  write: (to, at, sent, start) => {
    const days = sent.getInt32(start)
    if (days === 0x7fff_ffff) return FOREVER.write(to, at)
    if (days === -0x8000_0000) return SINCE_EVER.write(to, at)
    to.setUint8(at, QUOTE)
    return end(to, writeDay(to, at + 1, days), days, DAY_END)
  },
  longest: null,
  size: 4,
  isValue: null,
}

const writeMoment = (to: DataView, at: number, days: number, micros: number, behind: Ending): number => {
  to.setUint8(at, QUOTE)
  return end(to, writeTime(to, writeDay(to, at + 1, days), micros), days, behind)
}

const LAST = 2n ** 63n - 1n
const FIRST = -(2n ** 63n)

const moment = (behind: Ending): JsonEncoder => ({
  write: (to, at, sent, start) => {
    const micros = int64At(sent, start)
    const days = Math.floor(micros / MICROS_A_DAY) | 0
    if (Number.isSafeInteger(micros)) return writeMoment(to, at, days, micros - days * MICROS_A_DAY, behind)
    const exact = sent.getBigInt64(start)
    if (exact === LAST) return FOREVER.write(to, at)
    if (exact === FIRST) return SINCE_EVER.write(to, at)
    const ofDay = ((exact % DAY) + DAY) % DAY
    return writeMoment(to, at, Number((exact - ofDay) / DAY), Number(ofDay), behind)
  },
  longest: null,
  size: 8,
  isValue: null,
})

export const TIMESTAMP = moment(ending(""))

/** PostgreSQL sends these in UTC, regardless of the session's time zone. */
export const TIMESTAMPTZ = moment(ending("Z"))
