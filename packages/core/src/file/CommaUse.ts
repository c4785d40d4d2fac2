/**
 * Distinguishes commas that separate cells from commas in texts. Where another delimiter fits, a comma before a space
 * or between two digits belongs to a text. A comma inside quotes always does.
 */

export interface CommaUse {
  /** For each line that is not blank, the number of cells between its separating commas. */
  readonly widths: ReadonlyArray<number>
  /** Lines that have separating commas. */
  readonly dividedLines: number
  /** Commas that belong to texts. */
  readonly inTexts: number
}

const LF = 10
const CR = 13
const SPACE = 32
const QUOTE = 34
const COMMA = 44
const NO_BREAK_SPACE = 0xa0

const isDigit = (code: number): boolean => code >= 48 && code <= 57
const isSpace = (code: number): boolean => code === SPACE || code === NO_BREAK_SPACE
/** A line break or one of the delimiters: after these a quote opens a cell. */
const isBorder = (code: number): boolean =>
  code === LF || code === CR || code === COMMA || code === 59 || code === 9 || code === 124 || Number.isNaN(code)

/** `text` is the beginning of a file. Unless `whole`, its last line may be cut, and is ignored. */
export const commaUse = (text: string, whole: boolean): CommaUse => {
  const widths: Array<number> = []
  let dividedLines = 0
  let inTexts = 0
  let separating = 0
  let isBlank = true
  let isQuoted = false
  const endLine = () => {
    if (!isBlank) widths.push(separating + 1)
    if (separating > 0) dividedLines++
    separating = 0
    isBlank = true
  }
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      if (isQuoted) isQuoted = false
      else if (isBorder(text.charCodeAt(at - 1)) || text.charCodeAt(at - 1) === QUOTE) isQuoted = true
      isBlank = false
    } else if (isQuoted) continue
    else if (code === LF || code === CR) endLine()
    else {
      isBlank = false
      if (code !== COMMA) continue
      const next = text.charCodeAt(at + 1)
      if (isSpace(next) || (isDigit(next) && isDigit(text.charCodeAt(at - 1)))) inTexts++
      else separating++
    }
  }
  if (whole) endLine()
  return { widths, dividedLines, inTexts }
}
