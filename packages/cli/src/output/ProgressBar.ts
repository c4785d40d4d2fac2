/** A progress bar for long commands: drawn on stderr, and only on a terminal. */

const WIDTH = 30
const REDRAW_MILLIS = 100

export interface ProgressBar {
  /** `label` precedes the bar, `unit` follows it; `part` is from 0 to 1. Drawn at most ten times a second. */
  readonly draw: (label: string, part: number, unit: string, nowMillis: number) => void
  readonly clear: () => void
}

export const progressBar = (): ProgressBar => {
  let drawn = 0
  const watched = process.stderr.isTTY
  return {
    draw: (label, part, unit, now) => {
      if (!watched || now - drawn < REDRAW_MILLIS) return
      drawn = now
      const bar = "█".repeat(Math.round(Math.min(1, part) * WIDTH)).padEnd(WIDTH, "░")
      process.stderr.write(`\r\u001b[K${label.padEnd(9)} ${bar} ${unit}`)
    },
    clear: () => {
      if (watched) process.stderr.write("\r\u001b[K")
    },
  }
}
