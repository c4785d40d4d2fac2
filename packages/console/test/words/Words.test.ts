import { WORDS } from "@data-cabinet/console/words/Words"
import { assert, it } from "vitest"

/** Names that are the same in both languages. */
const NAMES = new Set([
  "Data",
  "Cabinet",
  "API",
  "Enter",
  "C",
  "UTC",
  "UTF",
  "ASCII",
  "HTML",
  "CSV",
  "TSV",
  "JSON",
  "NDJSON",
  "XLSX",
  "ODS",
  "SQL",
  "psql",
  "PostgreSQL",
  "URL",
  "s",
  "m",
  "h",
  "d",
  "OpenID",
  "Connect",
  "TLS",
  "PEM",
  // Recipes, as their setting names them.
  "hmac",
  "sns",
  "token",
  "ARN",
])

/** The name of a setting. */
const SETTING = /[A-Z]+(?:_[A-Z]+)+/g

const textsOf = (words: unknown): ReadonlyArray<string> => {
  if (typeof words === "string") return [words]
  if (typeof words === "function") return textsOf((words as (...given: ReadonlyArray<unknown>) => string)(1, "", 2))
  return Object.values(words as object).flatMap(textsOf)
}

it("a Russian text has no Latin word but a name", () => {
  const { product: _, ...russian } = WORDS.ru
  for (const text of textsOf(russian)) {
    const latin = (text.replaceAll(SETTING, "").match(/[A-Za-z]+/g) ?? []).filter((word) => !NAMES.has(word))
    assert.deepStrictEqual(latin, [], text)
  }
})

it("counts have the plural form of their number", () => {
  assert.deepStrictEqual(
    [1, 2, 5, 21].map((count) => WORDS.ru.table.shown(count, false)),
    ["1 строка всего", "2 строки всего", "5 строк всего", "21 строка всего"],
  )
  assert.strictEqual(WORDS.en.table.shown(1, true), "1 row on this page")
})
