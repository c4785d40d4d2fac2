/** What goes with a request from layer to layer, as values. */
import type { Context } from "effect"
import type { Deadline } from "./Deadline.ts"

export interface Call {
  /** When whoever asks is to have a result, whatever that is. */
  readonly deadline: Deadline
  /** What its spans and lines in the log are made under. */
  readonly context: Context.Context<never>
}
