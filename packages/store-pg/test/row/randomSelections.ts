/** Random selections with OR groups and several sorts, walked page by page and compared with one statement of PostgreSQL. */
import type { ParamPairs } from "@data-cabinet/core/selection/SelectionParams"
import { afterAll, beforeAll, expect } from "vitest"
import { COLUMNS, createKinds, definitions, filler, literal } from "./orderedColumns.ts"
import { type Random, randomFrom } from "./random.ts"
import { openReading, type Reading, walk } from "./reading.ts"

/** Types whose values a filter takes in the form of a literal. */
const FILTERED = new Set("small big int num float text icu folded cit bool date ts tz uuid mood dom".split(" "))

const CONDITIONS: Readonly<Record<string, (column: string, value: string) => string>> = {
  eq: (column, value) => `${column} = ${value}`,
  ne: (column, value) => `${column} IS DISTINCT FROM ${value}`,
  gt: (column, value) => `${column} > ${value}`,
  ge: (column, value) => `${column} >= ${value}`,
  lt: (column, value) => `${column} < ${value}`,
  le: (column, value) => `${column} <= ${value}`,
}

interface Target {
  readonly name: string
  /** The columns that identify a row; null if nothing does. */
  readonly key: ReadonlyArray<string> | null
}

const KEYED: Target = { name: "keyed", key: ["n"] }
const OBJECTS: ReadonlyArray<Target> = [
  KEYED,
  KEYED,
  KEYED,
  { name: "strict", key: ["k", "n"] },
  { name: "strict", key: ["k", "n"] },
  { name: "keyless", key: null },
  { name: "keyless", key: null },
  { name: "seen", key: null },
]

/** Of types that others created: a read that compares them has a session of its own, which takes longer. */
const FOREIGN = new Set(["folded", "cit", "mood", "pair"])

/** Mostly of PostgreSQL's own types. */
const columnsFor = (random: Random) => (random.chance(0.08) ? COLUMNS : COLUMNS.filter(([name]) => !FOREIGN.has(name)))

const randomFilter = (random: Random, columns: typeof COLUMNS) => {
  const [name, type, values] = random.pick(columns.filter(([one]) => FILTERED.has(one)))
  if (random.chance(0.2)) {
    const [fo, sql] = random.pick([["empty", "IS NULL"] as const, ["notempty", "IS NOT NULL"] as const])
    const isText = /^(text|citext)/.test(type)
    const isEmpty = isText ? `coalesce("${name}"::text, '') = ''` : `"${name}" IS NULL`
    return { fc: name, fo, fv: "", sql: sql === "IS NULL" ? `(${isEmpty})` : `NOT (${isEmpty})` }
  }
  const fo = random.pick(Object.keys(CONDITIONS))
  const fv = random.pick(values)
  const of = `${literal(fv)}::${type.replace(/ COLLATE .*/, "")}`
  return { fc: name, fo, fv, sql: `(${CONDITIONS[fo]!(`"${name}"`, of)})` }
}

/** A selection's parameters, and the statement that returns the same rows in the same order. */
const randomSelection = (random: Random, { name, key }: Target) => {
  const params: Array<readonly [string, string]> = []
  const columns = columnsFor(random)
  const groups: Array<Array<string>> = []
  for (let left = random.below(5); left > 0; left--) {
    const { fc, fo, fv, sql } = randomFilter(random, columns)
    params.push(["fc", fc], ["fo", fo], ["fv", fv])
    const group = groups.at(-1)
    if (group === undefined) groups.push([sql])
    else {
      const isAlternative = random.chance(0.6)
      params.push(["fj", isAlternative ? "or" : random.pick(["and", ""])])
      if (isAlternative) group.push(sql)
      else groups.push([sql])
    }
  }
  const sortable = [...columns.map(([one]) => one), "n", "k"]
  const chosen = new Set(Array.from({ length: 1 + random.below(4) }, () => random.pick(sortable)))
  const sorts = [...chosen].map((column) => ({ column, direction: random.pick(["asc", "desc"]) }))
  for (const { column, direction } of sorts) params.push(["sort", column], ["dir", direction])
  params.push(["limit", String(3 + random.below(10))], ["col", "n"])
  if (random.chance(0.3)) for (const { column } of sorts) if (column !== "n") params.push(["col", column])
  const last = sorts.at(-1)!.direction
  const ties = (key ?? []).map((column) => `"${column}" ${last}`)
  const order = [...sorts.map(({ column, direction }) => `"${column}" ${direction} NULLS LAST`), ...ties]
  const where = groups.length === 0 ? "true" : groups.map((group) => `(${group.join(" OR ")})`).join(" AND ")
  const names = sorts.map(({ column }) => `"${column}"`).join(", ")
  const rank = `dense_rank() OVER (ORDER BY ${sorts.map(({ column, direction }) => `"${column}" ${direction} NULLS LAST`).join(", ")})`
  return {
    params: params satisfies ParamPairs,
    statement: `SELECT n, ${rank} AS rank FROM ${name} WHERE ${where} ORDER BY ${order.join(", ")}`,
    about: `${name} by ${names}: ${JSON.stringify(params)}`,
  }
}

/** Prepares the tables, and returns what compares this many selections, from a seed. */
export const randomSelections = () => {
  let reading: Reading
  beforeAll(async () => {
    reading = await openReading()
    await createKinds(reading)
    const fill = filler(reading)
    const random = randomFrom(49)
    await reading.run(`CREATE TABLE keyed (n int PRIMARY KEY, k text, ${definitions(false)})`)
    await fill("keyed", random, 24, () => true)
    await reading.run(`CREATE TABLE strict (n int, k text COLLATE "C", ${definitions(true)}, PRIMARY KEY (k, n))`)
    await fill("strict", random, 24, () => false)
    await reading.run(`CREATE TABLE keyless (n int, k text, ${definitions(false)})`)
    await fill("keyless", random, 20, () => true)
    await reading.run(`CREATE VIEW seen AS SELECT * FROM keyed UNION ALL SELECT * FROM keyed WHERE n % 3 = 0`)
  })
  afterAll(() => reading.close())

  return async (seed: number, count: number): Promise<void> => {
    const random = randomFrom(seed)
    let found = 0
    for (let done = 0; done < count; done++) {
      const of = random.pick(OBJECTS)
      const { params, statement, about } = randomSelection(random, of)
      const expected = (await reading.run(statement)).map((row) => [Number(row["n"]), Number(row["rank"])] as const)
      const walked = (await walk(reading, of.name, params)).items.map((item): number => JSON.parse(item).n)
      found += walked.length
      if (of.key !== null) {
        expect(walked, about).toEqual(expected.map(([n]) => n))
        continue
      }
      // Rows that are equal in every sort may come in any order.
      const rankOf = new Map(expected)
      const numeric = (list: ReadonlyArray<number>) => list.toSorted((one, other) => one - other)
      expect(numeric(walked), about).toEqual(numeric(expected.map(([n]) => n)))
      expect(
        walked.map((n) => rankOf.get(n)),
        about,
      ).toEqual(expected.map(([, rank]) => rank))
    }
    expect(found).toBeGreaterThan(count)
  }
}
