/** The database folds texts as the program does, under each collation that can be chosen, in queries and in indexes. */
import { searchFunction } from "@data-cabinet/core/row/SearchSql"
import { foldedText } from "@data-cabinet/core/selection/FoldedText"
import { foldCase } from "@data-cabinet/core/text/LetterCase"
import { makeFunctions, MAKE_SCHEMA } from "@data-cabinet/store-pg/row/SearchIndexStatement"
import { expect, it } from "vitest"
import { ALIKE, APART } from "../../../../test/support/letterCase.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"

const database = withDatabase()

const TEXTS = [...new Set([...ALIKE, ...APART].flat())]
const literal = (text: string) => `'${text}'::text COLLATE "de-x-icu"`

/** Of the embedded server, and of PostgreSQL 15 to 17. */
const COLLATIONS = [`"pg_catalog"."pg_unicode_fast"`, `"pg_catalog"."und-x-icu"`]

it.each(COLLATIONS)("texts are folded by %s as by the program", async (collation) => {
  for (const statement of [...MAKE_SCHEMA, ...makeFunctions(collation, true)]) await database.run(statement)
  const folded = (text: string) =>
    `(${foldedText(literal(text), collation, null)}), ${searchFunction(collation).sql}(ARRAY[${literal(text)}])`
  const rows = await database.run(
    `SELECT * FROM (VALUES ${TEXTS.map((text) => `(${folded(text)})`).join(", ")}) f(a, b)`,
  )
  expect(rows).toEqual(TEXTS.map((text) => ({ a: foldCase(text), b: foldCase(text) })))
})
