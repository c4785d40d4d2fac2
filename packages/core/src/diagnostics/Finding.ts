/** The result of one check of `doctor`. */
import * as Shape from "../json/Shape.ts"

/** `bad` needs attention now, `warn` soon. */
export type Level = "ok" | "warn" | "bad"

export interface Finding {
  readonly check: string
  readonly level: Level
  readonly message: string
}

/** Its JSON and its description. */
export const findingShape = Shape.object<Finding>("A finding.", {
  check: Shape.text("What was checked."),
  level: Shape.oneOf(["ok", "warn", "bad"], "`bad` needs attention now, `warn` soon."),
  message: Shape.text("The finding, and its remedy."),
})

/** `check` has two words at most. */
export const finding = (check: string, level: Level, message: string): Finding => ({ check, level, message })
