/**
 * Texts in the form in which searches compare them, as `foldCase` makes it. Letters that look the same are equal,
 * however they are stored. Case is folded, and a letter with a mark is one character (Unicode's form NFC), as keyboards
 * write it; some file systems and phones write two. Stored values do not change.
 */
import type { ColumnType } from "../row/ColumnType.ts"
import { BYTEWISE, call, operate } from "../row/SystemSql.ts"
import { LETTERS_ALIKE } from "../text/LetterCase.ts"

const ASCII_KINDS: ReadonlySet<string> = new Set(["number", "boolean", "date", "timestamp", "timestamptz", "bytea"])

/** True if values of the type are shown in ASCII alone, which has only one form. */
const isAscii = (type: ColumnType): boolean =>
  type.kind === "array" ? isAscii(type.element) : ASCII_KINDS.has(type.kind)

/**
 * `foldCase` but for the upper case. Composes only text that is not composed yet: testing it takes a quarter of the time, and
 * ASCII needs no composing.
 */
export const composed = (text: string): string => {
  const isComposed = call("is_normalized", text, "'NFC'")
  const whole = `CASE WHEN ${isComposed} THEN ${text} ELSE ${call("normalize", text, "'NFC'")} END`
  const alike = LETTERS_ALIKE.reduce(
    (sql, [letter, as]) => call("replace", sql, `'${letter}'`, `'${as}'`),
    `(${whole}) ${BYTEWISE}`,
  )
  return `CASE WHEN ${operate(call("octet_length", text), "=", call("length", text))} THEN ${text} ELSE ${alike} END`
}

/**
 * Case is folded by the given collation, whatever the text's own; to upper case, because ς and σ are equal only there. The
 * subquery evaluates the text once.
 */
export const foldedText = (text: string, collation: string, type: ColumnType | null): string =>
  type !== null && isAscii(type)
    ? call("upper", `${text} COLLATE ${collation}`)
    : `(SELECT ${call("upper", `${composed(`"s"."t"`)} COLLATE ${collation}`)} FROM (SELECT ${text} AS "t" OFFSET 0) AS "s")`
