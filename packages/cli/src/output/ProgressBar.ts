/** A progress bar for long commands: drawn on stderr, and only on a terminal. */
import { plainText } from "./PlainText.ts"

const WIDTH = 30
const REDRAW_MILLIS = 100

export interface ProgressBar {
  /** `label` precedes the bar, `unit` follows it; `part` is from 0 to 1. Drawn at most ten times a second. */
  readonly draw: (label: string, part: number, unit: string, nowMillis: number) => void
  /** For work whose end is not known. */
  readonly count: (label: string, unit: string, nowMillis: number) => void
  readonly clear: () => void
}

export const progressBar = (): ProgressBar => {
  let drawn = 0
  const watched = process.stderr.isTTY
  const show = (text: string, now: number) => {
    if (!watched || now - drawn < REDRAW_MILLIS) return
    drawn = now
    process.stderr.write(`\r\u001b[K${plainText(text)}`)
  }
  return {
    draw: (label, part, unit, now) => {
      const bar = "█".repeat(Math.round(Math.min(1, part) * WIDTH)).padEnd(WIDTH, "░")
      show(`${label.padEnd(9)} ${bar} ${unit}`, now)
    },
    count: (label, unit, now) => show(`${label.padEnd(9)} ${unit}`, now),
    clear: () => {
      if (watched) process.stderr.write("\r\u001b[K")
    },
  }
}
