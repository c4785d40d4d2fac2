/** `cabinet cold …`: old events in files. */
import { ColdHistory, RANGE_EXPECTED } from "@data-cabinet/core/cold/ColdHistory"
import { ColdOverview, coldStatusShape } from "@data-cabinet/core/cold/ColdOverview"
import { counted } from "@data-cabinet/core/text/Counted"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { CommandError } from "../error/CommandError.ts"
import { columns } from "../output/Columns.ts"
import { report } from "../output/Report.ts"
import { format, settingFlags, withCabinet, withDatabase } from "./Root.ts"

const place = settingFlags("coldStore", "coldEndpoint", "coldRegion", "coldUrlStyle", "allowedNetworks")

const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`

const status = Command.make("status", place, (input) =>
  withCabinet(input, () =>
    Effect.gen(function* () {
      const cold = yield* ColdOverview.use(({ status: state }) => state)
      const { location, files, events, bytes, workedAt, failures, error } = cold
      yield* report(yield* format, coldStatusShape.json(cold), (style) =>
        [
          location === null ? "No place for files is set (CABINET_COLD_STORE)." : `Files are in ${location}.`,
          `${counted(events, "event")} in ${counted(files.length, "file")}, ${megabytes(bytes)}.`,
          workedAt === null ? "No event has moved yet." : `Last round: ${workedAt}.`,
          ...(failures === 0 ? [] : [`Failed ${counted(failures, "time")}: ${error}`]),
          columns(
            ["FROM", "TO", "EVENTS", "SIZE", "ROWS", "FILE"],
            files.map((file) => [
              file.from,
              file.to,
              String(file.events),
              megabytes(file.bytes),
              file.emptied ? "deleted" : "being deleted",
              file.name,
            ]),
            { style, none: "No files." },
          ),
        ].join("\n"),
      )
    }),
  ),
).pipe(Command.withDescription("Show the files of old events, their size, and how the work is going"))

const verify = Command.make("verify", place, (input) =>
  withDatabase(input, () =>
    Effect.gen(function* () {
      const checked = yield* ColdHistory.use((cold) => cold.verify)
      const wrong = checked.filter(({ problem }) => problem !== null)
      yield* report(yield* format, checked, () =>
        [
          ...wrong.map(({ name, problem }) => `${name}: ${problem}`),
          `${counted(checked.length - wrong.length, "file")} of ${checked.length} as written.`,
        ].join("\n"),
      )
      if (wrong.length > 0) {
        const message = `${counted(wrong.length, "file")} cannot be used. Put back copies of them.`
        return yield* new CommandError({ code: "refused", message })
      }
    }),
  ),
).pipe(Command.withDescription("Read every file of old events, and compare it with what was written"))

const thaw = Command.make(
  "thaw",
  {
    range: Argument.String("range").pipe(Argument.withDescription(`Which events: ${RANGE_EXPECTED}`)),
    ...place,
  },
  ({ range, ...input }) =>
    withDatabase(input, () =>
      Effect.gen(function* () {
        const thawed = yield* ColdHistory.use((cold) => cold.thaw(range))
        yield* report(
          yield* format,
          thawed,
          () =>
            `${counted(thawed.events, "event")} of ${counted(thawed.files, "file")} are in the database again, and stay there. The files are removed in ten minutes.`,
        )
      }),
    ),
).pipe(Command.withDescription("Bring old events back into the database, for good: whole files at a time"))

export const coldCommand = Command.make("cold").pipe(
  Command.withDescription("See the events that have moved into files, and bring them back"),
  Command.withSubcommands([status, verify, thaw]),
)
