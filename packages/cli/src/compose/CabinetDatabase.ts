/**
 * The database of a cabinet, opened and brought up to date: the one that DATABASE_URL names, or the embedded one of the
 * data directory, which a server holds and every other process joins, whether or not the server runs.
 */
import { resolve } from "node:path"
import * as EmbeddedPostgres from "@data-cabinet/store-pg/embedded/EmbeddedPostgres"
import { Effect, type Scope } from "effect"
import { openDatabase, type OpenedDatabase } from "./OpenDatabase.ts"
import type { Settings } from "../settings/Settings.ts"
import { StartError } from "../error/StartError.ts"

export interface CabinetDatabase extends OpenedDatabase {
  /** The owner's database URL; it may hold a password. */
  readonly url: string
  /** Null for a database provided by the user. */
  readonly dataDir: string | null
  /** The cabinet's name on a server of many; null for a server's own database. */
  readonly cabinet: string | null
}

type Place = Pick<
  Settings,
  "databaseUrl" | "readerUrl" | "authorUrl" | "dataDir" | "postgresBin" | "postgresPort" | "secretKey"
>

/** `waitMillis`: how long a user's own database that is not up yet is waited for. */
interface OpeningOptions {
  readonly waitMillis?: number
  /** As in OpenDatabase. */
  readonly baseUrl?: string | undefined
}

/**
 * `serve` holds the data directory exclusively, `create` shares it; both create a missing database. `join` shares an
 * existing one and creates nothing, so that a mistyped directory is reported and not filled. All for as long as the
 * scope is open.
 */
export type DatabaseRole = "serve" | "create" | "join"

export const cabinetDatabase = (
  place: Place,
  role: DatabaseRole,
  { waitMillis = 0, baseUrl }: OpeningOptions = {},
): Effect.Effect<CabinetDatabase, StartError, Scope.Scope> =>
  Effect.gen(function* () {
    const { url, dataDir } = yield* location(place, role)
    const { readerUrl, authorUrl, secretKey: cipher } = place
    const opened = yield* openDatabase(
      { url, readerUrl: readerUrl ?? undefined, authorUrl: authorUrl ?? undefined, baseUrl, cipher },
      waitMillis,
    )
    return { ...opened, url, dataDir, cabinet: null }
  })

const location = (place: Place, role: DatabaseRole) => {
  const { databaseUrl, dataDir, postgresBin, postgresPort } = place
  if (databaseUrl !== null) return Effect.succeed({ url: databaseUrl, dataDir: null })
  const open = role === "serve" ? EmbeddedPostgres.serve : EmbeddedPostgres.join
  // A command without the port setting must not close the port that a server opened.
  const reportsPort = role === "serve" ? postgresPort : (postgresPort ?? undefined)
  return Effect.suspend(() =>
    role === "join" && !EmbeddedPostgres.exists(dataDir)
      ? nothingIn(dataDir)
      : Effect.mapError(
          open({ dataDir, bin: postgresBin ?? undefined, reportsPort }),
          (error) => new StartError({ code: "embedded", message: error.message }),
        ),
  )
}

const nothingIn = (dataDir: string) =>
  Effect.fail(
    new StartError({
      code: "embedded",
      message: `There is no database in ${resolve(dataDir)}. Point --data-dir or CABINET_DATA_DIR to an existing one, or create one there with cabinet serve or cabinet source add NAME.`,
    }),
  )
