/**
 * The scales of pictures: numbers and times as integers in a common unit, in steps that people read easily. Every bound is
 * exact, so that a filter by two bounds finds the rows that a bar counts.
 */
import { decimalOf } from "../json/Decimal.ts"
import type { ColumnType } from "../row/ColumnType.ts"

/** The most bars of a picture. */
export const MAX_BARS = 24

/** Numbers with more digits, before or after the point, are not placed. */
const MAX_DIGITS = 60

/** Where values are placed, and in which steps. */
export interface Scale {
  /** The value's place; undefined for one that has none, such as NaN and infinity. */
  readonly placeOf: (text: string) => bigint | undefined
  /** The value at a place, as a filter takes it. */
  readonly textAt: (place: bigint) => string
  /** The steps to choose from, ascending. */
  readonly steps: () => Iterable<bigint>
  /** What a step's multiples are counted from. */
  readonly origin: bigint
}

/** Null for a type whose values are not placed. `zone`: the time zone whose days and hours timestamps are counted in. */
export const scaleOf = (type: ColumnType, texts: Iterable<string>, zone: string): Scale | null => {
  switch (type.kind) {
    case "number":
      return numberScale(texts)
    case "date":
      return dateScale
    case "timestamp":
      return timeScale(0n, "")
    case "timestamptz":
      return timeScale(zoneOffset(zone, texts), "Z")
    default:
      return null
  }
}

/** A bar: from its first value on, below its second one. */
export interface Range {
  readonly from: string
  readonly below: string
}

/** Equal steps over all places. */
export interface Steps {
  readonly start: bigint
  readonly step: bigint
  readonly count: number
}

/** The smallest readable steps of which no more than `MAX_BARS` hold both places. */
export const stepsBetween = ({ steps, origin }: Scale, least: bigint, most: bigint): Steps => {
  for (const step of steps()) {
    const [first, last] = [floorDiv(least - origin, step), floorDiv(most - origin, step)]
    const count = last - first + 1n
    if (count <= MAX_BARS) return { start: first * step + origin, step, count: Number(count) }
  }
  throw new Error("Steps end")
}

const floorDiv = (value: bigint, by: bigint): bigint => {
  const whole = value / by
  return value < 0n && whole * by !== value ? whole - 1n : whole
}

/** In tenths of a power of ten. */
const READABLE = [10n, 15n, 20n, 25n, 30n, 40n, 50n, 60n, 80n]

function* readableSteps(): Iterable<bigint> {
  for (let power = 1n; ; power *= 10n) {
    for (const tenths of READABLE) if ((power * tenths) % 10n === 0n) yield (power * tenths) / 10n
  }
}

/** How many digits are behind the point. */
const digitsBehind = (text: string): number => {
  const decimal = decimalOf(text)
  return decimal === null ? 0 : decimal.digits.length - decimal.point
}

const numberScale = (texts: Iterable<string>): Scale => {
  let places = 0
  for (const text of texts) {
    const behind = digitsBehind(text)
    if (behind <= MAX_DIGITS) places = Math.max(places, behind)
  }
  return {
    placeOf: (text) => {
      const decimal = decimalOf(text)
      if (decimal === null) return undefined
      const { sign, point, digits } = decimal
      if (sign === 0) return 0n
      if (point > MAX_DIGITS || digits.length - point > places) return undefined
      const place = BigInt(digits) * 10n ** BigInt(places + point - digits.length)
      return sign < 0 ? -place : place
    },
    textAt: (place) => {
      const digits = (place < 0n ? -place : place).toString().padStart(places + 1, "0")
      const whole = digits.slice(0, digits.length - places)
      let end = digits.length
      while (end > digits.length - places && digits[end - 1] === "0") end--
      const behind = digits.slice(digits.length - places, end)
      return `${place < 0n ? "-" : ""}${whole}${behind === "" ? "" : `.${behind}`}`
    },
    steps: readableSteps,
    origin: 0n,
  }
}

const SECOND = 1_000_000n
const DAY = 86_400n * SECOND

/** Years beyond are mostly signs, such as "never", and would squeeze all others into one bar. */
const TIME = /^([1-8]\d{3}-\d\d-\d\d)(?:[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?(?:Z|\+00)?)?$/

const microsOf = (text: string): bigint | undefined => {
  const [, day, time = "00:00:00", fraction = ""] = TIME.exec(text) ?? []
  if (day === undefined) return undefined
  const millis = Date.parse(`${day}T${time}Z`)
  return Number.isNaN(millis) ? undefined : BigInt(millis) * 1000n + BigInt(fraction.padEnd(6, "0"))
}

const isoText = (micros: bigint): string => new Date(Number(micros / 1000n)).toISOString()

function* daySteps(): Iterable<bigint> {
  for (const days of [1n, 2n, 3n, 5n, 7n, 10n, 14n, 21n, 28n]) yield days
  for (const days of readableSteps()) if (days > 28n) yield days
}

const dateScale: Scale = {
  placeOf: (text) => {
    const micros = microsOf(text)
    return micros === undefined ? undefined : floorDiv(micros, DAY)
  },
  textAt: (place) => isoText(place * DAY).slice(0, 10),
  steps: daySteps,
  origin: 0n,
}

function* timeSteps(): Iterable<bigint> {
  for (const unit of [1n, 60n]) for (const step of [1n, 2n, 5n, 10n, 15n, 30n]) yield step * unit * SECOND
  for (const hours of [1n, 2n, 3n, 6n, 12n]) yield hours * 3600n * SECOND
  for (const days of daySteps()) yield days * DAY
}

const timeScale = (origin: bigint, end: string): Scale => ({
  placeOf: microsOf,
  textAt: (place) => `${isoText(place).slice(0, 19)}${end}`,
  steps: timeSteps,
  origin,
})

/** Where the zone's days begin, by its offset at the latest of these times. */
const zoneOffset = (zone: string, texts: Iterable<string>): bigint => {
  if (zone === "UTC") return 0n
  let latest = ""
  for (const text of texts) if (text > latest && TIME.test(text)) latest = text
  const micros = microsOf(latest)
  if (micros === undefined) return 0n
  const parts = new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "longOffset" })
  const name = parts.formatToParts(Number(micros / 1000n)).find(({ type }) => type === "timeZoneName")?.value ?? ""
  const [, sign, hours = "0", minutes = "0"] = /GMT([+-])(\d\d):(\d\d)/.exec(name) ?? []
  const offset = (BigInt(hours) * 3600n + BigInt(minutes) * 60n) * SECOND
  return sign === "-" ? offset : -offset
}
