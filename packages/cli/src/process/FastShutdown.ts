/** How this process was told to stop: at leisure, by SIGTERM, or at once, by somebody who sits at a terminal and waits. */
import { Context } from "effect"

/** True once the process was told to stop by anything but SIGTERM. */
export const FastShutdown = Context.Reference<() => boolean>("data-cabinet/process/FastShutdown", {
  defaultValue: () => () => false,
})
