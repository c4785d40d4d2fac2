/** `cabinet destination …`: places that get the events of the feed, as files or as messages. */
import {
  type Destination,
  DESTINATION_FORMATS,
  DESTINATION_STARTS,
  destinationShape,
} from "@data-cabinet/core/destination/Destination"
import { Destinations } from "@data-cabinet/core/destination/Destinations"
import { isNats } from "@data-cabinet/core/destination/NatsSettings"
import { isS3, S3_SETTINGS } from "@data-cabinet/core/destination/S3Settings"
import { MOST_BEHIND } from "@data-cabinet/core/follower/FollowerStore"
import { counted } from "@data-cabinet/core/text/Counted"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { report } from "../output/Report.ts"
import { confirmed, yes } from "./Confirm.ts"
import { CommandError } from "../error/CommandError.ts"
import { credentialsFile, givenCredentials, newCredentials } from "./CredentialsInput.ts"
import { EXAMPLES } from "./Examples.ts"
import { destinationArgument, destinationNamed, sourceNamed } from "./Named.ts"
import { format, settingFlags, withCabinet } from "./Root.ts"
import { declaredFlags, givenSettings } from "./SettingFlags.ts"

const isElsewhere = (location: string) => isS3(location) || isNats(location)

const places = settingFlags("destinationRoot", "allowedNetworks")

const add = Command.make(
  "add",
  {
    location: Argument.String("PLACE").pipe(
      Argument.withDescription(
        "s3://BUCKET/PREFIX; nats://STREAM/SUBJECT; or a directory below CABINET_DESTINATION_ROOT, such as events or events/orders",
      ),
    ),
    sources: Flag.String("source").pipe(
      Flag.withMetavar("SOURCE"),
      Flag.withDescription("Only events of this source, by number or name; may be repeated. Default: all sources"),
      Flag.between(0, 1000),
    ),
    as: Flag.Literals("format", DESTINATION_FORMATS).pipe(
      Flag.withDescription("Format of the files: lines of JSON, or Parquet compressed with zstd"),
      Flag.withDefault("ndjson"),
    ),
    from: Flag.Literals("from", DESTINATION_STARTS).pipe(
      Flag.withDescription("Begin with the first event, or with the next one"),
      Flag.withDefault("beginning"),
    ),
    ...declaredFlags(S3_SETTINGS),
    credentialsFile,
    ...places,
  },
  (input) =>
    Effect.gen(function* () {
      const { location, as, from } = input
      // Read before anything is opened: a person may be typing them.
      const given = isElsewhere(location)
        ? yield* newCredentials(location, input.credentialsFile)
        : yield* givenCredentials(input.credentialsFile)
      yield* withCabinet(input, () =>
        Effect.gen(function* () {
          const sources = input.sources.length === 0 ? null : yield* Effect.forEach(input.sources, sourceNamed)
          const place = { ...S3_SETTINGS.defaults, ...givenSettings(S3_SETTINGS, input), credentials: given ?? null }
          const added = yield* Destinations.use((all) => all.add({ location, format: as, sources, from, ...place }))
          const things = isNats(location) ? "messages" : `${as} files`
          const words = `Destination ${added.id} gets ${from === "now" ? "new events" : "all events"} as ${things} in ${location}. See: cabinet destination list`
          yield* report(yield* format, destinationShape.json(added), () => words)
        }),
      )
    }),
).pipe(
  Command.withDescription(
    "Write the events of the feed into a directory or a bucket of S3, as files that are complete when they appear, or into a stream of NATS JetStream",
  ),
)

const set = Command.make(
  "set",
  { destination: destinationArgument, ...declaredFlags(S3_SETTINGS), credentialsFile, ...places },
  (input) =>
    Effect.gen(function* () {
      const credentials = yield* givenCredentials(input.credentialsFile)
      const change = { ...givenSettings(S3_SETTINGS, input), ...(credentials === undefined ? {} : { credentials }) }
      if (Object.keys(change).length === 0) {
        const message = "Nothing to change: give --credentials-file, --endpoint, --region or --url-style."
        return yield* new CommandError({ code: "usage", message })
      }
      yield* withCabinet(input, () =>
        Effect.gen(function* () {
          const id = yield* destinationNamed(input.destination)
          const changed = yield* Destinations.use((destinations) => destinations.change(id, change))
          const words = `Destination ${changed.id} was changed.${changed.paused ? "" : " It is tried again at once."}`
          yield* report(yield* format, destinationShape.json(changed), () => words)
        }),
      )
    }),
).pipe(Command.withDescription("Change how the bucket or the broker of a destination is reached, or its credentials"))

const restart = Command.make("restart", { destination: destinationArgument, yes, ...places }, (input) =>
  Effect.andThen(
    confirmed(input.yes, `Send all events to the destination ${input.destination} again?`),
    withCabinet(input, () =>
      Effect.gen(function* () {
        const id = yield* destinationNamed(input.destination)
        const restarted = yield* Destinations.use((destinations) => destinations.restart(id))
        const words = `Destination ${restarted.id} gets all events again; its ${isNats(restarted.location) ? "messages have ids" : "files have names"} that begin with ${restarted.tag}.`
        yield* report(yield* format, destinationShape.json(restarted), () => words)
      }),
    ),
  ),
).pipe(Command.withDescription("Send all events again, from the first; the destination must have no files or messages"))

const stateOf = ({ paused, failures, error, retryAt, behind }: Destination): string =>
  paused
    ? "paused"
    : failures > 0
      ? `failed ${counted(failures, "time")}, next try ${retryAt}: ${error}`
      : behind > 0
        ? "waiting"
        : "up to date"

const list = Command.make("list", {}, () =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const all = yield* Destinations.use((destinations) => destinations.list)
      yield* report(yield* format, all.map(destinationShape.json), (style) =>
        columns(
          ["ID", "PLACE", "FORMAT", "SOURCES", "LAST EVENT", "EVENTS BEHIND", "SECONDS BEHIND", "STATE"],
          all.map((one) => [
            String(one.id),
            one.location,
            one.format,
            one.sources?.join(", ") ?? "all",
            one.eventId === null ? "" : String(one.eventId),
            `${one.behind}${one.behind === MOST_BEHIND ? "+" : ""}`,
            String(Math.round(one.behindSeconds)),
            stateOf(one),
          ]),
          { style, none: "No destinations yet. Add one with: cabinet destination add PLACE" },
        ),
      )
    }),
  ),
).pipe(Command.withDescription("List the destinations, how far each has come, and why it waits"))

/** A command that changes one destination and says the result. */
const changing = (name: "pause" | "resume", description: string, words: (one: Destination) => string) =>
  Command.make(name, { destination: destinationArgument }, (input) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const id = yield* destinationNamed(input.destination)
        const changed = yield* Destinations.use((destinations) => destinations[name](id))
        yield* report(yield* format, destinationShape.json(changed), () => words(changed))
      }),
    ),
  ).pipe(Command.withDescription(description))

const pause = changing(
  "pause",
  "Stop writing to a destination; it keeps its position",
  ({ id }) => `Destination ${id} is paused. Nothing is lost: resume it with cabinet destination resume ${id}`,
)

const resume = changing(
  "resume",
  "Continue a destination at its position at once",
  ({ id }) => `Destination ${id} continues at its position.`,
)

const remove = Command.make("remove", { destination: destinationArgument, yes }, (input) =>
  Effect.andThen(
    confirmed(
      input.yes,
      `Remove the destination ${input.destination}? What was written stays, but its position is forgotten.`,
    ),
    withCabinet({}, () =>
      Effect.gen(function* () {
        const id = yield* destinationNamed(input.destination)
        yield* Destinations.use((destinations) => destinations.remove(id))
        yield* report(
          yield* format,
          { id, removed: true },
          () => `Destination ${id} is removed; what was written remains.`,
        )
      }),
    ),
  ),
).pipe(Command.withDescription("Forget a destination; its files or messages remain"))

export const destinationCommand = Command.make("destination").pipe(
  Command.withExamples(EXAMPLES.destination),
  Command.withDescription(
    "Write the events of the feed as files, for engines that read NDJSON or Parquet, or as messages of NATS JetStream",
  ),
  Command.withSubcommands([add, list, set, pause, resume, restart, remove]),
)
