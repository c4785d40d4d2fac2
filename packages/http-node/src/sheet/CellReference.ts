/** Parses the positions of cells: `C5` is column 3 of row 5. */

/** The limits of spreadsheets: XFD and 1048576. */
export const MAX_COLUMNS = 16_384
export const MAX_ROWS = 1_048_576

/** 0 for a part that the reference omits. */
export interface CellReference {
  readonly column: number
  readonly row: number
}

const NO_REFERENCE: CellReference = { column: 0, row: 0 }

/** Reads `C5`, `$C$5` and `c5`; anything else has neither column nor row. */
export const cellReference = (text: string): CellReference => {
  let column = 0
  let row = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code >= 48 && code <= 57) row = row * 10 + code - 48
    else if (code === 36) continue
    else {
      const letter = (code | 32) - 96
      if (letter < 1 || letter > 26 || row !== 0) return NO_REFERENCE
      column = column * 26 + letter
    }
    if (column > MAX_COLUMNS * 26 || row > MAX_ROWS * 10) break
  }
  return { column, row }
}

/** The letters of a column, counted from 1. */
export const columnLetters = (column: number): string => {
  let letters = ""
  for (let left = column; left > 0; left = Math.floor((left - 1) / 26)) {
    letters = String.fromCharCode(65 + ((left - 1) % 26)) + letters
  }
  return letters
}
