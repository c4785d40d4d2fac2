/** `cabinet event …`: the events of the feed, one by one and as they arrive. */
import { Command } from "effect/cli"
import { list } from "./EventListCommand.ts"
import { show } from "./EventShowCommand.ts"
import { verify } from "./EventVerifyCommand.ts"
import { reread } from "./EventRereadCommand.ts"
import { purge } from "./EventPurgeCommand.ts"
import { restore, trash } from "./EventTrashCommands.ts"
import { EXAMPLES } from "./Examples.ts"

export const eventCommand = Command.make("event").pipe(
  Command.withExamples(EXAMPLES.event),
  Command.withDescription("Read, follow, verify, correct, delete and restore events"),
  Command.withSubcommands([list, show, trash, restore, purge, verify, reread]),
)
