/** The values that accompany a request from layer to layer. */
import type { Context } from "effect"
import type { Deadline } from "./Deadline.ts"

export interface Call {
  /** When the caller needs a result of any kind. */
  readonly deadline: Deadline
  /** The context for its spans and log lines. */
  readonly context: Context.Context<never>
}
