/** Recognizes rows of totals at the end of a table by their first word. */
import type { Json } from "../json/Json.ts"

const TOTAL =
  /^(?:(?:grand |sub)?total(?:s|e|en)?|sum|sum(?:me|ma)|gesamt(?:summe)?|итого|всего|разом|усього|razem|suma|celkem|összesen|somme|totaal|totalt|totale|合計|总计|合计)(?![\p{L}\p{N}])/iu

/** Longer first cells are sentences. */
const MAX_LENGTH = 40

/** Whether the first filled cell of a row names a total. */
export const isTotalsRow = (cells: ReadonlyArray<Json>): boolean => {
  const first = cells.find((cell) => typeof cell === "string" && cell.trim() !== "")
  return typeof first === "string" && first.length <= MAX_LENGTH && TOTAL.test(first.trim())
}
