/** `cabinet follower …`: the work behind the feed. */
import { followerShape, Followers } from "@data-cabinet/core/follower/Followers"
import { CLIENT_KIND, type FollowerState, MOST_BEHIND } from "@data-cabinet/core/follower/FollowerStore"
import { counted } from "@data-cabinet/core/text/Counted"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { report } from "../output/Report.ts"
import { EXAMPLES } from "./Examples.ts"
import { followerArgument, followerNamed } from "./Named.ts"
import { format, withCabinet } from "./Root.ts"

const stateOf = ({ kind, failures, error, retryAt, paused, holder, movedAt, key }: FollowerState): string =>
  kind === CLIENT_KIND
    ? `acknowledged ${movedAt} with the key ${key}`
    : paused
      ? "paused"
      : failures > 0
        ? `failed ${counted(failures, "time")}, next try ${retryAt}: ${error}`
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

const reset = Command.make(
  "reset",
  {
    follower: followerArgument,
    to: Flag.String("to").pipe(
      Flag.withDescription(
        "beginning, now, a time such as 2026-11-21T09:30:00Z, or a cursor from the feed that this client reads",
      ),
      Flag.withDefault("beginning"),
    ),
  },
  (input) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const id = yield* followerNamed(input.follower)
        yield* Followers.use((followers) => followers.reset(id, input.to))
        yield* report(
          yield* format,
          { id, to: input.to },
          () => `Follower ${id} is reset: its program continues there with the next page that it reads.`,
        )
      }),
    ),
).pipe(Command.withDescription("Set the position of a client's follower; without --to, to the first event"))

const remove = Command.make("remove", { follower: followerArgument }, (input) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const id = yield* followerNamed(input.follower)
      yield* Followers.use((followers) => followers.remove(id))
      yield* report(
        yield* format,
        { id },
        () => `Follower ${id} is removed. A program that still uses its name creates it again when it acknowledges.`,
      )
    }),
  ),
).pipe(Command.withDescription("Forget a client's follower, for a program that was retired"))

export const followerCommand = Command.make("follower").pipe(
  Command.withExamples(EXAMPLES.follower),
  Command.withDescription("See the work that follows the feed, and set clients' positions"),
  Command.withSubcommands([list, reset, remove]),
)
