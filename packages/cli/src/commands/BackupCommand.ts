/** `cabinet backup` and `cabinet restore`: the embedded database to one file, and back. */
import { backup } from "@data-cabinet/store-pg/embedded/Backup"
import type { EmbeddedPostgresError } from "@data-cabinet/store-pg/embedded/EmbeddedPostgresError"
import { restore } from "@data-cabinet/store-pg/embedded/Restore"
import { Clock, Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { cabinetDatabase } from "../compose/CabinetDatabase.ts"
import type { Settings } from "../settings/Settings.ts"
import { progressBar } from "../output/ProgressBar.ts"
import { snakeKeys } from "@data-cabinet/core/json/KeyCase"
import { report } from "../output/Report.ts"
import { CommandError } from "../error/CommandError.ts"
import { format, noCabinet, quietLog, settingsOf } from "./Root.ts"

const megabytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(1)} MB`

const refuse = (message: string) => new CommandError({ code: "refused", message })

/** The settings of a call that concerns the embedded database as a whole. */
const embedded = Effect.gen(function* () {
  const { settings } = yield* settingsOf()
  yield* noCabinet("A backup holds the whole embedded database with all its cabinets")
  if (settings.databaseUrl !== null) {
    return yield* refuse(
      "DATABASE_URL points to your own PostgreSQL server: back it up and restore it with pg_dump and pg_restore (see docs/operations.md). This command is for the embedded database only.",
    )
  }
  return settings
})

interface Progress {
  readonly done: number
  readonly total: number
}

const withBar = <A>(
  label: string,
  settings: Settings,
  work: (tell: (progress: Progress) => void) => Effect.Effect<A, EmbeddedPostgresError>,
) =>
  Effect.gen(function* () {
    const bar = progressBar()
    const clock = yield* Clock.Clock
    const tell = ({ done, total }: Progress) =>
      bar.draw(
        label,
        done / Math.max(1, total),
        `${megabytes(done)} of ${megabytes(total)}`,
        clock.currentTimeMillisUnsafe(),
      )
    return yield* Effect.ensuring(work(tell), Effect.sync(bar.clear))
  }).pipe(Effect.provide(quietLog(settings)))

const file = (about: string) => Argument.String("FILE").pipe(Argument.withDescription(about))

export const backupCommand = Command.make(
  "backup",
  { file: file("Output file; must not exist. Compressed with gzip unless the name ends in .tar") },
  (input) =>
    Effect.gen(function* () {
      const settings = yield* embedded
      const { dataDir, postgresBin } = settings
      const place = { dataDir, bin: postgresBin ?? undefined, file: input.file }
      const made = yield* withBar("backup", settings, (tell) => backup({ ...place, tell }))
      yield* report(
        yield* format,
        snakeKeys(made),
        () =>
          `Backed up ${megabytes(made.bytes)} of ${dataDir} into ${made.file} (${megabytes(made.archiveBytes)}). It contains everything acknowledged before ${made.madeAt}, secrets included: protect it like the database itself. Restore it with: cabinet restore FILE --data-dir DIR`,
      )
    }),
).pipe(Command.withDescription("Back up the embedded database to one file, even while it is in use"))

export const restoreCommand = Command.make("restore", { file: file("A file created by cabinet backup") }, (input) =>
  Effect.gen(function* () {
    const settings = yield* embedded
    const { dataDir, postgresBin } = settings
    const place = { dataDir, bin: postgresBin ?? undefined, file: input.file }
    const made = yield* withBar("restore", settings, (tell) => restore({ ...place, tell }))
    // Checks here that it starts, so that the failure is not left to a later server.
    yield* cabinetDatabase(settings, "join").pipe(Effect.scoped, Effect.provide(quietLog(settings)))
    yield* report(
      yield* format,
      snakeKeys(made),
      () =>
        `Restored ${megabytes(made.bytes)}, as of ${made.madeAt}, into ${made.dataDir}; the database was started and checked. Serve it with: cabinet serve --data-dir ${dataDir}`,
    )
  }),
).pipe(Command.withDescription("Restore a backup of the embedded database into an empty data directory"))
