/**
 * Filters as one line of text, such as `total >= 300, status = paid or status = refunded`. A comma or `and` narrows, and `or` gives
 * an alternative; `and` binds most and a comma least. Whatever the line says becomes groups of alternatives, as a selection has them.
 *
 * Decision: docs/decisions/0098-filters-as-a-line.md
 */
import { MAX_ALTERNATIVES, SIGNS } from "@data-cabinet/core/selection/Selection"
import { Result } from "effect"
import { type LineError, LineScanner, Refused } from "./FilterLineScanner.ts"
import { AND, COLUMN, OR, VALUE } from "./FilterLineText.ts"
import type { ShownFilter } from "../screen/SelectionLinks.ts"

/** A column, under each of the names that a line may use. */
export interface LineColumn {
  readonly name: string
  readonly label: string
}

/** The filters of a line; none for an empty one. */
export const filterLine = (
  line: string,
  columns: ReadonlyArray<LineColumn>,
): Result.Result<ReadonlyArray<ShownFilter>, LineError> => {
  try {
    const groups = new LineReader(line, columns).groups()
    return Result.succeed(groups.flatMap((group) => group.map((filter, at) => ({ ...filter, or: at > 0 }))))
  } catch (error) {
    if (error instanceof Refused) return Result.fail(error.error)
    throw error
  }
}

/** Alternatives of one another. */
type Group = ReadonlyArray<ShownFilter>

const MAX_DEPTH = 30

/** Longer signs come first. */
const COMPARISONS: ReadonlyArray<readonly [sign: string, condition: string]> = [
  ...Object.entries(SIGNS).map(([condition, sign]) => [sign, condition] as const),
  ["<>", "ne"] as const,
  ["≠", "ne"] as const,
  ["≥", "ge"] as const,
  ["≤", "le"] as const,
].toSorted(([one], [other]) => other.length - one.length)

const EMPTY = /(?:is\s+empty|пусто)(?![^\s,()])/iuy
const NOT_EMPTY = /(?:is\s+not\s+empty|не\s+пусто)(?![^\s,()])/iuy
const ONE_OF = /(?:in|в)(?=[\s(])/iuy

const sizeOf = (groups: ReadonlyArray<Group>): number => groups.reduce((sum, group) => sum + group.length, 0)

const folded = (text: string): string => text.toLowerCase()

/** Names of columns by how they may be written; null if several columns are. */
const namesBy = (
  columns: ReadonlyArray<LineColumn>,
  write: (column: LineColumn) => string,
): ReadonlyMap<string, string | null> => {
  const names = new Map<string, string | null>()
  for (const column of columns) {
    const written = write(column)
    names.set(written, names.has(written) ? null : column.name)
  }
  return names
}

class LineReader {
  readonly #scan: LineScanner
  /** A name comes before a label, and an exact one before others. */
  readonly #names: ReadonlyArray<readonly [ReadonlyMap<string, string | null>, (text: string) => string]>
  #depth = 0

  constructor(line: string, columns: ReadonlyArray<LineColumn>) {
    this.#scan = new LineScanner(line)
    const same = (text: string) => text
    this.#names = [
      [namesBy(columns, ({ name }) => name), same],
      [namesBy(columns, ({ label }) => label), same],
      [namesBy(columns, ({ name }) => folded(name)), folded],
      [namesBy(columns, ({ label }) => folded(label)), folded],
    ]
  }

  groups(): ReadonlyArray<Group> {
    if (this.#scan.isAtEnd) return []
    const groups = this.#list()
    return this.#scan.isAtEnd ? groups : this.#scan.refuse("join")
  }

  #list(): ReadonlyArray<Group> {
    const groups: Array<Group> = []
    do for (const group of this.#alternatives()) groups.push(group)
    while (this.#scan.has(","))
    return this.#counted(groups)
  }

  /** `a and b or c` is `a or c, b or c`. */
  #alternatives(): ReadonlyArray<Group> {
    let groups = this.#both()
    for (let from = this.#scan.at; this.#scan.skip(OR); from = this.#scan.at) {
      const [before, others] = [groups, this.#both()]
      const size = before.length * sizeOf(others) + others.length * sizeOf(before)
      if (size > MAX_ALTERNATIVES) this.#scan.refuse("many", from)
      groups = before.flatMap((group) => others.map((other) => [...group, ...other]))
    }
    return groups
  }

  #both(): ReadonlyArray<Group> {
    const groups: Array<Group> = []
    do for (const group of this.#one()) groups.push(group)
    while (this.#scan.skip(AND))
    return this.#counted(groups)
  }

  #counted(groups: ReadonlyArray<Group>): ReadonlyArray<Group> {
    const hasAlternatives = groups.some(({ length }) => length > 1)
    return hasAlternatives && sizeOf(groups) > MAX_ALTERNATIVES ? this.#scan.refuse("many") : groups
  }

  #one(): ReadonlyArray<Group> {
    const from = this.#scan.at
    if (!this.#scan.has("(")) return [this.#condition()]
    this.#depth += 1
    if (this.#depth > MAX_DEPTH) this.#scan.refuse("many", from)
    const groups = this.#list()
    if (!this.#scan.has(")")) this.#scan.refuse("bracket")
    this.#depth -= 1
    return groups
  }

  #condition(): Group {
    const column = this.#column()
    if (this.#scan.skip(EMPTY)) return [{ column, condition: "empty", value: "" }]
    if (this.#scan.skip(NOT_EMPTY)) return [{ column, condition: "notempty", value: "" }]
    if (this.#scan.skip(ONE_OF)) return this.#oneOf(column)
    const comparison = COMPARISONS.find(([sign]) => this.#scan.has(sign))
    if (comparison === undefined) return this.#scan.refuse("condition")
    return [{ column, condition: comparison[1], value: this.#value() }]
  }

  #oneOf(column: string): Group {
    if (!this.#scan.has("(")) this.#scan.refuse("bracket")
    const values: Array<string> = []
    do values.push(this.#value())
    while (this.#scan.has(","))
    if (!this.#scan.has(")")) this.#scan.refuse("bracket")
    return values.map((value) => ({ column, condition: "eq", value }))
  }

  #column(): string {
    const from = this.#scan.at
    const written = this.#scan.quoted() ?? this.#scan.word(COLUMN) ?? this.#scan.refuse("column")
    for (const [names, write] of this.#names) {
      const name = names.get(write(written))
      if (typeof name === "string") return name
    }
    return this.#scan.refuse("unknown", from)
  }

  #value(): string {
    return this.#scan.quoted() ?? this.#scan.word(VALUE) ?? this.#scan.refuse("value")
  }
}
