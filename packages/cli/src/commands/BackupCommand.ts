/** `cabinet backup` and `cabinet restore`: the embedded database to one file, and back. */
import { backup } from "@data-cabinet/store-pg/embedded/Backup"
import type { EmbeddedPostgresError } from "@data-cabinet/store-pg/embedded/EmbeddedPostgresError"
import { restore } from "@data-cabinet/store-pg/embedded/Restore"
import { Clock, Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { cabinetDatabase } from "../compose/CabinetDatabase.ts"
import type { Settings } from "../settings/Settings.ts"
import { progressBar } from "../output/ProgressBar.ts"
import { snakeKeys } from "@data-cabinet/core/json/SnakeKeys"
import { report } from "../output/Report.ts"
import { CommandError } from "./CommandError.ts"
import { format, noCabinet, quietLog, settingsOf } from "./Root.ts"

const megabytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(1)} MB`

const refuse = (message: string) => new CommandError({ code: "refused", message })

/** The settings of a call that concerns the embedded database as a whole. */
const embedded = Effect.gen(function* () {
  const { settings } = yield* settingsOf()
  yield* noCabinet("A backup holds the whole embedded database, all its cabinets")
  if (settings.databaseUrl !== null) {
    return yield* refuse(
      "DATABASE_URL names a PostgreSQL of your own: back it up and restore it with pg_dump and pg_restore, as docs/operations.md says. This command is for the embedded one.",
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
  { file: file("Where to; must not be there. Gzipped unless its name ends in .tar") },
  (input) =>
    Effect.gen(function* () {
      const settings = yield* embedded
      const { dataDir } = settings
      const made = yield* withBar("backup", settings, (tell) => backup({ dataDir, file: input.file, tell }))
      yield* report(
        yield* format,
        snakeKeys(made),
        () =>
          `Backed up ${megabytes(made.bytes)} of ${dataDir} into ${made.file} (${megabytes(made.archiveBytes)}). It holds all that was acknowledged before ${made.madeAt}, and secrets: keep it as safe as the database. Put it back with: cabinet restore FILE --data-dir DIR`,
      )
    }),
).pipe(Command.withDescription("Back the embedded database up into one file, also while it is served"))

export const restoreCommand = Command.make("restore", { file: file("A file that cabinet backup made") }, (input) =>
  Effect.gen(function* () {
    const settings = yield* embedded
    const { dataDir } = settings
    const made = yield* withBar("restore", settings, (tell) => restore({ dataDir, file: input.file, tell }))
    // Checks here that it starts, so that the failure is not left to a later server.
    yield* cabinetDatabase(settings, "join").pipe(Effect.scoped, Effect.provide(quietLog(settings)))
    yield* report(
      yield* format,
      snakeKeys(made),
      () =>
        `Restored ${megabytes(made.bytes)}, as of ${made.madeAt}, into ${made.dataDir}; the database was started and is well. Serve it with: cabinet serve --data-dir ${dataDir}`,
    )
  }),
).pipe(Command.withDescription("Put a backup of the embedded database into a data directory that has none"))
