/**
 * Detects filters that compare numbers as text. A text column has the order of text, in which `9.50` comes after `10`:
 * such a filter is valid, but rarely intended.
 */
import type { FilterCondition } from "./Selection.ts"

const BY_ORDER: ReadonlySet<string> = new Set<FilterCondition>(["gt", "ge", "lt", "le"])

/** Digits with a sign, a fraction or separators between them, as people write numbers. */
const NUMBER = /^\s*[-+]?[0-9][0-9 ,.]*\s*$/

/** True for a condition by order with a value that looks like a number: in a column of text it compares them as text. */
export const comparesNumber = (condition: string, value: string): boolean =>
  BY_ORDER.has(condition) && NUMBER.test(value)
