/** The result of one check of `doctor`. */

/** `bad` needs attention now, `warn` soon. */
export type Level = "ok" | "warn" | "bad"

export interface Finding {
  readonly check: string
  readonly level: Level
  readonly message: string
}

/** `check` has two words at most. */
export const finding = (check: string, level: Level, message: string): Finding => ({ check, level, message })
