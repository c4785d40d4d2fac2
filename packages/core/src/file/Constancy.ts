/** Measures how evenly a delimiter divides lines into cells. */

/**
 * 3: every line has the same number of cells. 2: only titles above and notes below have fewer. 1: at least half of the
 * lines agree.
 */
export type ConstancyLevel = 0 | 1 | 2 | 3

export interface Constancy {
  /** The number of cells, at least 2, that most lines have; 1 if no line is divided. */
  readonly width: number
  readonly share: number
  readonly level: ConstancyLevel
}

/** Lines above and below the table that may have fewer cells. */
export const MAX_TITLES = 20
const MAX_NOTES = 3
/** The smallest share of lines that a table below titles may have. */
const LEAST_SHARE = 0.3

const NONE: Constancy = { width: 1, share: 0, level: 0 }

const mostFrequent = (widths: ReadonlyArray<number>): { readonly width: number; readonly times: number } => {
  const times = new Map<number, number>()
  for (const width of widths) if (width > 1) times.set(width, (times.get(width) ?? 0) + 1)
  let best = { width: 1, times: 0 }
  for (const [width, count] of times)
    if (count > best.times || (count === best.times && width > best.width)) best = { width, times: count }
  return best
}

/** Measures lines with these numbers of cells; `refused` lines cannot be read at all. */
export const constancy = (widths: ReadonlyArray<number>, refused = 0): Constancy => {
  const { width, times } = mostFrequent(widths)
  if (times === 0) return NONE
  const share = times / (widths.length + refused)
  if (share === 1) return { width, share, level: 3 }
  const first = widths.indexOf(width)
  const last = widths.lastIndexOf(width)
  const isTable =
    refused === 0 &&
    times === last - first + 1 &&
    times > 1 &&
    first <= MAX_TITLES &&
    widths.length - 1 - last <= MAX_NOTES &&
    share >= LEAST_SHARE &&
    widths.every((one) => one <= width)
  return { width, share, level: isTable ? 2 : share >= 0.5 ? 1 : 0 }
}
