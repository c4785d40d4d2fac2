/** What `doctor` says of one thing that it examined. */

/** `bad` needs attention now, `warn` soon. */
export type Level = "ok" | "warn" | "bad"

export interface Finding {
  readonly check: string
  readonly level: Level
  readonly message: string
}

/** The check is two words at most. */
export const finding = (check: string, level: Level, message: string): Finding => ({ check, level, message })
