/**
 * Which database a cabinet lives in, opened and brought up to date: the one that DATABASE_URL names, or the embedded one
 * of the data directory, which a server holds and everybody else joins, beside it or without it.
 */
import { resolve } from "node:path"
import * as EmbeddedPostgres from "@data-cabinet/store-pg/embedded/EmbeddedPostgres"
import { Effect, type Scope } from "effect"
import { openDatabase, type OpenedDatabase } from "./OpenDatabase.ts"
import type { Settings } from "../settings/Settings.ts"
import { StartError } from "../process/StartError.ts"

export interface CabinetDatabase extends OpenedDatabase {
  /** The owner's address; it may hold a password. */
  readonly url: string
  /** Null for a database of the user's own. */
  readonly dataDir: string | null
  /** Its name on a server of many; null for a server's own database. */
  readonly cabinet: string | null
}

type Place = Pick<Settings, "databaseUrl" | "readerUrl" | "authorUrl" | "dataDir">

/**
 * A database of the user's own that is not there yet is waited for as long as `patience` says, in milliseconds.
 * `serve` holds the data directory alone, `create` shares it; both make a database where there is none. `join` shares what is
 * there and makes nothing, so that a mistyped directory is told of and not filled. All for as long as the scope is open.
 */
export type DatabaseRole = "serve" | "create" | "join"

export const cabinetDatabase = (
  place: Place,
  role: DatabaseRole,
  patience = 0,
): Effect.Effect<CabinetDatabase, StartError, Scope.Scope> =>
  Effect.gen(function* () {
    const { url, dataDir } = yield* location(place, role)
    const { readerUrl, authorUrl } = place
    const opened = yield* openDatabase(
      { url, readerUrl: readerUrl ?? undefined, authorUrl: authorUrl ?? undefined },
      patience,
    )
    return { ...opened, url, dataDir, cabinet: null }
  })

const location = (place: Place, role: DatabaseRole) => {
  const { databaseUrl, dataDir } = place
  if (databaseUrl !== null) return Effect.succeed({ url: databaseUrl, dataDir: null })
  const open = role === "serve" ? EmbeddedPostgres.serve : EmbeddedPostgres.join
  return Effect.suspend(() =>
    role === "join" && !EmbeddedPostgres.exists(dataDir)
      ? nothingIn(dataDir)
      : Effect.mapError(open({ dataDir }), (error) => new StartError({ code: "embedded", message: error.message })),
  )
}

const nothingIn = (dataDir: string) =>
  Effect.fail(
    new StartError({
      code: "embedded",
      message: `There is no database in ${resolve(dataDir)}. Name the directory of one with --data-dir or CABINET_DATA_DIR, or begin one there with cabinet serve or cabinet source add NAME.`,
    }),
  )
