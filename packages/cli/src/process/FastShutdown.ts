/** How this process has to stop: gracefully, after SIGTERM, or fast, for a person waiting at a terminal. */
import { Context } from "effect"

/** True once any signal but SIGTERM has requested a stop. */
export const FastShutdown = Context.Reference<() => boolean>("data-cabinet/process/FastShutdown", {
  defaultValue: () => () => false,
})
