/** How this process was told to stop: gracefully, by SIGTERM, or fast, by a person who waits at a terminal. */
import { Context } from "effect"

/** True once the process was told to stop by any signal but SIGTERM. */
export const FastShutdown = Context.Reference<() => boolean>("data-cabinet/process/FastShutdown", {
  defaultValue: () => () => false,
})
