import { filterLine } from "@data-cabinet/console/table/FilterLine"
import { lineOf, type LineWords } from "@data-cabinet/console/table/FilterLineText"
import type { ShownFilter } from "@data-cabinet/console/screen/SelectionLinks"
import { WORDS } from "@data-cabinet/console/words/Words"
import { filterGroups } from "@data-cabinet/core/row/RowReader"
import { FILTER_CONDITIONS } from "@data-cabinet/core/selection/Selection"
import { Result } from "effect"
import { assert, it } from "vitest"
import { randomOf, seeded } from "../../../../test/support/random.ts"

const LANGUAGES: ReadonlyArray<LineWords> = [WORDS.en.filterLine, WORDS.ru.filterLine]

const columnsOf = (...names: ReadonlyArray<string>) => names.map((name) => ({ name, label: name }))

const PIECES = [
  ..."abЖ 1,.()=!<>~≠\"'“”„«»\\\n\t_-",
  ..."and|or|is|not|empty|in|и|или|не|пусто|в|AND|Или|\\n|\\u00e9| |\ud800|🙂|>=|null".split("|"),
]

const random = seeded(98)
const text = (most: number) => Array.from({ length: random(most) }, () => randomOf(random, PIECES)).join("")

it("a line of filters is read as exactly these filters, in both languages", () => {
  for (let time = 0; time < 2_000; time++) {
    const names = [...new Set(Array.from({ length: 4 }, () => text(5)))]
    const filters = Array.from({ length: random(7) }, (_, at): ShownFilter => {
      const condition = randomOf(random, FILTER_CONDITIONS)
      const value = condition === "empty" || condition === "notempty" ? "" : text(6)
      return { column: randomOf(random, names), condition, value, or: at > 0 && random(2) === 0 }
    })
    const line = lineOf(filters, randomOf(random, LANGUAGES))
    // A field for one line drops the breaks of lines.
    assert.notMatch(line, /[\r\n]/)
    assert.deepStrictEqual(filterLine(line, columnsOf(...names)), Result.succeed(filters), line)
  }
})

it("any text is filters that are written again, or has a fault at one of its places", () => {
  const columns = columnsOf("a", "b", "Ж", "1")
  const known = ["a", "b", "Ж ", "1 ", "= ", ", ", " and ", " or ", "(", ")", "~", "is empty", '"x"']
  let read = 0
  for (let time = 0; time < 4_000; time++) {
    const line = Array.from({ length: random(12) }, () =>
      random(8) === 0 ? randomOf(random, PIECES) : randomOf(random, known),
    ).join("")
    const filters = filterLine(line, columns)
    if (Result.isFailure(filters)) {
      const { at } = filters.failure
      assert.isTrue(at >= 0 && at <= line.length, line)
    } else {
      read += 1
      const again = filterLine(lineOf(filters.success, randomOf(random, LANGUAGES)), columns)
      assert.deepStrictEqual(again, filters, line)
    }
  }
  assert.isAbove(read, 200)
})

type Tree = string | { readonly join: "and" | "or"; readonly parts: ReadonlyArray<Tree> }

const treeOf = (depth: number): Tree =>
  depth === 0 || random(3) === 0
    ? randomOf(random, ["a", "b", "c", "d"])
    : { join: randomOf(random, ["and", "or"]), parts: [treeOf(depth - 1), treeOf(depth - 1)] }

/** Brackets stand only around an `or` inside an `and`. */
const written = (tree: Tree, around: "and" | "or" | null): string => {
  if (typeof tree === "string") return `${tree} = 1`
  const line = tree.parts.map((part) => written(part, tree.join)).join(` ${tree.join} `)
  return tree.join === "or" && around === "and" ? `(${line})` : line
}

const holds = (tree: Tree, row: ReadonlySet<string>): boolean =>
  typeof tree === "string"
    ? row.has(tree)
    : tree.join === "and"
      ? tree.parts.every((part) => holds(part, row))
      : tree.parts.some((part) => holds(part, row))

it("a line means the same as its groups: and binds more than or", () => {
  const names = ["a", "b", "c", "d"]
  const columns = columnsOf(...names)
  for (let time = 0; time < 500; time++) {
    const tree = treeOf(3)
    const line = written(tree, null)
    const filters = filterLine(line, columns)
    if (Result.isFailure(filters)) {
      assert.strictEqual(filters.failure.fault, "many", line)
      continue
    }
    const groups = filterGroups(filters.success.map(({ column, or }) => (or === true ? { column, or } : { column })))
    for (let bits = 0; bits < 16; bits++) {
      const row = new Set(names.filter((_, at) => (bits >> at) % 2 === 1))
      const matches = groups.every((group) => group.some(({ column }) => row.has(column)))
      assert.strictEqual(matches, holds(tree, row), `${line} for ${[...row].join()}`)
    }
  }
})

const shown = (line: string, columns = columnsOf("amount", "city", "note", "or", "Order no")): string => {
  const filters = filterLine(line, columns)
  if (Result.isSuccess(filters)) return lineOf(filters.success, WORDS.en.filterLine)
  return `${filters.failure.fault} at ${filters.failure.at}`
}

it.each([
  ["", ""],
  ["amount>=-5,city≠Köln", "amount >= -5, city != Köln"],
  [`amount > 100 and city = "Кёльн" or note ~ x`, "amount > 100 or note ~ x, city = Кёльн or note ~ x"],
  ["amount > 100, city = «Нижний Новгород» or note ~ x", `amount > 100, city = "Нижний Новгород" or note ~ x`],
  ["city IN (Köln, 'a b')", `city = Köln or city = "a b"`],
  ["note is  not empty И (city пусто или AMOUNT <> 1)", "note is not empty, city is empty or amount != 1"],
  [`"or" = "and" and "Order no" = "a\\n\\u0022"`, `"or" = "and", "Order no" = "a\\n\\""`],
] as const)("%j is read as %j", (line, expected) => assert.strictEqual(shown(line), expected))

it.each([
  ["amount", "condition at 6"],
  ["amount > ", "value at 9"],
  ["amount > and city = x", "value at 9"],
  ["amount > 100 city = x", "join at 13"],
  ["amount > 1, ", "column at 12"],
  ["total > 1", "unknown at 0"],
  ["(amount > 1", "bracket at 11"],
  ["city in Köln", "bracket at 8"],
  [`city = "Köln`, "quote at 7"],
  [`city = "C:\\Temp"`, "escape at 10"],
  ["(".repeat(31), "many at 30"],
  [Array.from({ length: 8 }, () => "(amount = 1 and city = 2)").join(" or "), "many at 113"],
] as const)("%j is refused: %s", (line, expected) => assert.strictEqual(shown(line), expected))

it("a column is also found by its label, and by a name in other letters if only one has it", () => {
  const columns = [
    { name: "state", label: "Order state" },
    { name: "STATE", label: "b" },
    { name: "b", label: "Twice" },
    { name: "c", label: "Twice" },
  ]
  assert.strictEqual(shown(`"order state" = 1, b = 1, STATE = 1`, columns), "state = 1, b = 1, STATE = 1")
  assert.deepStrictEqual([shown("State = 1", columns), shown("Twice = 1", columns)], ["unknown at 0", "unknown at 0"])
})
