/** `cabinet follower …`: the work behind the feed. */
import { followerShape, Followers } from "@data-cabinet/core/follower/Followers"
import { type FollowerState, MOST_BEHIND } from "@data-cabinet/core/follower/FollowerStore"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { report } from "../output/Report.ts"
import { format, withCabinet } from "./Root.ts"

const stateOf = ({ failures, error, retryAt, holder }: FollowerState): string =>
  failures > 0
    ? `failed ${failures} times, next try ${retryAt}: ${error}`
    : holder === null
      ? "idle"
      : `at work in ${holder}`

const list = Command.make("list", {}, () =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const all = yield* Followers.use((followers) => followers.list)
      yield* report(yield* format, all.map(followerShape.json), (style) =>
        columns(
          ["ID", "KIND", "NAME", "LAST EVENT", "EVENTS BEHIND", "SECONDS BEHIND", "STATE"],
          all.map((follower) => [
            String(follower.id),
            follower.kind,
            follower.name,
            follower.eventId === null ? "" : String(follower.eventId),
            `${follower.behind}${follower.behind === MOST_BEHIND ? "+" : ""}`,
            String(Math.round(follower.behindSeconds)),
            stateOf(follower),
          ]),
          { style, none: "No followers." },
        ),
      )
    }),
  ),
).pipe(Command.withDescription("List the followers of the feed: their positions, how far each is behind, and why"))

export const followerCommand = Command.make("follower").pipe(
  Command.withDescription("See the work that follows the feed"),
  Command.withSubcommands([list]),
)
