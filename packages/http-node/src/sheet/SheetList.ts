/** The sheets of a workbook, and the choice of one. */
import { SheetFault } from "./SheetFault.ts"

export interface ListedSheet {
  readonly name: string
  readonly isShown: boolean
  /** Its kind if it has no cells, such as a chart. */
  readonly other?: string | undefined
}

const MAX_NAMES = 50
const MAX_NAMES_LENGTH = 500

/** The fault of a sheet that the workbook does not have. */
export const noSuchSheet = (wanted: string | undefined, names: ReadonlyArray<string>): SheetFault => {
  if (names.length === 0) return new SheetFault("it lists no sheets")
  const listed = names.slice(0, MAX_NAMES).join(", ").slice(0, MAX_NAMES_LENGTH)
  return new SheetFault(
    wanted === undefined
      ? `none of its sheets has cells: ${listed}`
      : `it has no sheet ${wanted.slice(0, 100)}; its sheets are ${listed}`,
    "unreadable",
    true,
  )
}

/** Undefined for a sheet chosen by name, or if any will do. */
export const sheetNumber = (wanted: string | undefined): number | undefined =>
  wanted !== undefined && /^[1-9]\d{0,3}$/.test(wanted) ? Number(wanted) : undefined

/**
 * The sheet with this name, or this number counted from 1. Without either, the first visible one with cells, or the
 * first hidden one if none is visible.
 */
export const chooseSheet = <S extends ListedSheet>(sheets: ReadonlyArray<S>, wanted: string | undefined): S => {
  const number = sheetNumber(wanted)
  const found =
    wanted === undefined
      ? (sheets.find(({ isShown, other }) => isShown && other === undefined) ??
        sheets.find(({ other }) => other === undefined))
      : (sheets.find(({ name }) => name === wanted) ?? (number === undefined ? undefined : sheets[number - 1]))
  if (found === undefined)
    throw noSuchSheet(
      wanted,
      sheets.map(({ name }) => name),
    )
  if (found.other !== undefined)
    throw new SheetFault(`its sheet ${found.name} is ${found.other} and has no cells`, "unreadable", true)
  return found
}
