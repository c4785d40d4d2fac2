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

/** The fault if every sheet that is read by default, or the chosen one, has no rows. */
export const emptySheets = (empty: ReadonlyArray<string>, names: ReadonlyArray<string>): SheetFault => {
  const listed = (some: ReadonlyArray<string>) => some.slice(0, MAX_NAMES).join(", ").slice(0, MAX_NAMES_LENGTH)
  const others = names.filter((name) => !empty.includes(name))
  const [are, their] = empty.length === 1 ? ["its sheet", "is empty"] : ["its sheets", "are empty"]
  return new SheetFault(
    `${are} ${listed(empty)} ${their}${others.length === 0 ? "" : `; its other sheets are ${listed(others)}`}`,
    "unreadable",
    others.length > 0,
  )
}

/** Undefined for a sheet chosen by name, or if any will do. */
export const sheetNumber = (wanted: string | undefined): number | undefined =>
  wanted !== undefined && /^[1-9]\d{0,3}$/.test(wanted) ? Number(wanted) : undefined

/**
 * The sheet with this name, or this number counted from 1. Without either, the visible ones that can have cells, or the
 * hidden ones if none is visible: the first of them with rows is the one to read.
 */
export const chooseSheets = <S extends ListedSheet>(
  sheets: ReadonlyArray<S>,
  wanted: string | undefined,
): readonly [S, ...ReadonlyArray<S>] => {
  const number = sheetNumber(wanted)
  const withCells = sheets.filter(({ other }) => other === undefined)
  const shown = withCells.filter(({ isShown }) => isShown)
  const [first, ...others] =
    wanted === undefined
      ? shown.length > 0
        ? shown
        : withCells
      : [sheets.find(({ name }) => name === wanted) ?? (number === undefined ? undefined : sheets[number - 1])]
  if (first === undefined)
    throw noSuchSheet(
      wanted,
      sheets.map(({ name }) => name),
    )
  if (first.other !== undefined)
    throw new SheetFault(`its sheet ${first.name} is ${first.other} and has no cells`, "unreadable", true)
  return [first, ...others.filter((sheet) => sheet !== undefined)]
}
