/** The shape of a column's values: a few values with their counts, equal steps of numbers or times, or how many differ. */
import { shownText } from "../row/CellTokens.ts"
import type { ReadableColumn } from "../row/Catalog.ts"
import type { ColumnStatistics } from "../row/ColumnProfile.ts"
import { type Range, type Scale, scaleOf, type Steps, stepsBetween } from "./PictureScale.ts"

/** Longer values are counted, but not shown. */
const MAX_VALUE_CHARS = 200
/** The most values listed. */
const TOP_VALUES = 20
/** With more different values, the frequent ones are listed only if the first of them is this frequent. */
const FEW_VALUES = 12
const FREQUENT = 0.05

/** A step of numbers or times with its rows. */
export interface Bar extends Range {
  readonly rows: number
  /** True if it has a single value, `from`. */
  readonly isOne: boolean
}

/** The numbers of rows are whole, estimates too. */
export interface ColumnPicture {
  readonly column: string
  /** The rows that the picture stands for. */
  readonly rows: number
  /** How many of them the condition `empty` finds. */
  readonly empty: number
  /** How many different values there are besides the empty ones; null if unknown. */
  readonly distinct: number | null
  /** The frequent values, most frequent first; none for a column with bars. */
  readonly values: ReadonlyArray<{ readonly value: string; readonly rows: number }>
  /** In order, also those without rows; none for a column without a scale. */
  readonly bars: ReadonlyArray<Bar>
  /** The least and the greatest value in the bars; null without bars. */
  readonly ends: readonly [least: string, most: string] | null
  /** How many rows have a value outside the bars, such as NaN or infinity. */
  readonly beyond: number
}

/** The counted values of a column's rows. Memory is bounded by the rows, because long values are not kept. */
export class ColumnCounts {
  readonly #column: ReadableColumn
  readonly #counts = new Map<string, number>()
  readonly #empty: ReadonlySet<string>
  #rows = 0
  #none = 0
  #long = 0

  constructor(column: ReadableColumn) {
    this.#column = column
    this.#empty = EMPTY[column.type.kind] ?? EMPTY_OTHERS
  }

  /** `token`: the value as in a row's JSON. */
  add(token: string): void {
    this.#rows++
    if (this.#empty.has(token)) this.#none++
    else if (token.length > MAX_VALUE_CHARS) this.#long++
    else this.#counts.set(token, (this.#counts.get(token) ?? 0) + 1)
  }

  picture(zone: string): ColumnPicture {
    const weighed = [...this.#counts].map(([token, rows]) => ({ value: shownText(token), rows }))
    return pictureOf(this.#column, zone, {
      rows: this.#rows,
      empty: this.#none,
      distinct: this.#long === 0 ? this.#counts.size : null,
      values: weighed,
      bounds: [],
      spread: this.#long,
    })
  }
}

const EMPTY_OTHERS: ReadonlySet<string> = new Set(["null"])

/** The tokens that the condition `empty` finds. */
const EMPTY: Readonly<Record<string, ReadonlySet<string>>> = {
  text: new Set(["null", '""']),
  json: new Set(["null", "{}", "[]", '""']),
  jsonb: new Set(["null", "{}", "[]", '""']),
}

/** `rows`: the estimated number of the table's rows. */
export const pictureOfStatistics = (
  column: ReadableColumn,
  zone: string,
  { nulls, distinct, common, bounds }: ColumnStatistics,
  rows: number,
): ColumnPicture => {
  const isEmpty = (value: string) => column.type.kind === "text" && value === ""
  const listed = common.filter(({ value }) => !isEmpty(value))
  const empty = nulls + common.reduce((sum, { value, share }) => sum + (isEmpty(value) ? share : 0), 0)
  const rest = Math.max(0, 1 - empty - listed.reduce((sum, { share }) => sum + share, 0))
  const different = distinct < 0 ? -distinct * rows : distinct - (listed.length < common.length ? 1 : 0)
  return pictureOf(column, zone, {
    rows,
    empty: Math.round(empty * rows),
    distinct: distinct === 0 ? (empty >= 1 ? 0 : null) : Math.round(different),
    values: listed.map(({ value, share }) => ({ value: typed(column, value), rows: Math.round(share * rows) })),
    bounds: bounds.map((value) => typed(column, value)),
    spread: Math.round(rest * rows),
  })
}

/** PostgreSQL's own text as the API has it. */
const typed = ({ type: { kind } }: ReadableColumn, value: string): string => {
  if (kind === "boolean") return value === "t" ? "true" : "false"
  if (kind === "timestamptz") return value.replace(" ", "T").replace(/\+00$/, "Z")
  return kind === "timestamp" ? value.replace(" ", "T") : value
}

interface Weighed {
  readonly rows: number
  readonly empty: number
  readonly distinct: number | null
  readonly values: ReadonlyArray<{ readonly value: string; readonly rows: number }>
  /** Groups of equally many rows lie between each two of them. */
  readonly bounds: ReadonlyArray<string>
  /** The rows in these groups, or with values that are not listed. */
  readonly spread: number
}

const pictureOf = (column: ReadableColumn, zone: string, weighed: Weighed): ColumnPicture => {
  const { rows, empty, distinct, values, bounds, spread } = weighed
  const base = { column: column.name, rows, empty, distinct, values: [], bars: [], ends: null, beyond: 0 }
  const scale = scaleOf(column.type, [...values.map(({ value }) => value), ...bounds], zone)
  const drawn = scale === null ? null : barsOf(column, scale, weighed)
  if (drawn !== null) return { ...base, ...drawn }
  if (LISTED[column.type.kind] !== true) return base
  const sorted = values.toSorted((one, other) => other.rows - one.rows)
  const top = sorted[0]?.rows ?? 0
  const areFew = spread === 0 && values.length <= FEW_VALUES && (top > 1 || values.length === 1)
  const isListed = areFew || (top > 1 && top >= FREQUENT * (rows - empty))
  return isListed ? { ...base, values: sorted.slice(0, TOP_VALUES) } : base
}

const LISTED: Readonly<Record<string, true>> = {
  text: true,
  boolean: true,
  other: true,
  number: true,
  date: true,
  timestamp: true,
  timestamptz: true,
}

/** Types without a value between two neighbours. */
const WHOLE: ReadonlySet<string> = new Set(["smallint", "integer", "bigint", "date"])

interface Place {
  readonly at: bigint
  readonly value: string
  readonly rows: number
}

/** Null if fewer than two places are known. */
const barsOf = ({ type }: ReadableColumn, scale: Scale, { values, bounds, spread }: Weighed) => {
  const places: Array<Place> = []
  let beyond = bounds.length === 0 ? spread : 0
  const place = (value: string, rows: number) => {
    const at = scale.placeOf(value)
    if (at === undefined) beyond += rows
    else places.push({ at, value, rows })
  }
  for (const { value, rows } of values) place(value, rows)
  const groups = bounds.flatMap((value) => {
    const at = scale.placeOf(value)
    return at === undefined ? [] : [{ at, value }]
  })
  for (const { at, value } of groups) places.push({ at, value, rows: 0 })
  const [first] = places
  if (first === undefined) return null
  const [least, most] = places.reduce(
    ([low, high], one) => [one.at < low.at ? one : low, one.at > high.at ? one : high],
    [first, first],
  )
  if (least.at === most.at) return null
  const steps = stepsBetween(scale, least.at, most.at)
  const counted = Array.from({ length: steps.count }, () => 0)
  for (const { at, rows } of places) counted[Number((at - steps.start) / steps.step)]! += rows
  // The groups whose bounds have no place are beyond.
  const share = bounds.length < 2 ? 0 : spread / (bounds.length - 1)
  beyond += Math.round(share * Math.max(0, bounds.length - Math.max(1, groups.length)))
  spreadEvenly(
    counted,
    steps,
    groups.map(({ at }) => at),
    share,
  )
  const { start, step } = steps
  const isOne = step === 1n && WHOLE.has(type.name)
  return {
    bars: counted.map((rows, index) => ({
      from: scale.textAt(start + BigInt(index) * step),
      below: scale.textAt(start + BigInt(index + 1) * step),
      rows: Math.round(rows),
      isOne,
    })),
    ends: [least.value, most.value] as const,
    beyond,
  }
}

/** Adds the share of each group to the steps between its bounds, as if its values were evenly spread. */
const spreadEvenly = (counted: Array<number>, { start, step }: Steps, bounds: ReadonlyArray<bigint>, share: number) => {
  // Exact to a millionth of a step, however large the numbers.
  const at = bounds.map((bound) => Number(((bound - start) * 1_000_000n) / step) / 1_000_000)
  for (const [index, to] of at.entries()) {
    const from = at[index - 1]
    if (from === undefined) continue
    if (from === to) counted[Math.floor(from)]! += share
    for (let one = Math.floor(from); from < to && one < Math.min(to, counted.length); one++) {
      counted[one]! += (share * (Math.min(to, one + 1) - Math.max(from, one))) / (to - from)
    }
  }
}
