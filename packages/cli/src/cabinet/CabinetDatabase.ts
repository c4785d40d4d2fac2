/**
 * Which database a cabinet lives in, opened and brought up to date: the one that DATABASE_URL names, or the embedded one
 * of the data directory, which a server holds and everybody else joins, beside it or without it.
 */
import * as EmbeddedPostgres from "@data-cabinet/store-pg/embedded/EmbeddedPostgres"
import { Effect, type Scope } from "effect"
import { openDatabase, type OpenedDatabase } from "./OpenDatabase.ts"
import type { Settings } from "./Settings.ts"
import { StartError } from "./StartError.ts"

export interface CabinetDatabase extends OpenedDatabase {
  /** The owner's address; it may hold a password. */
  readonly url: string
  /** Null for a database of the user's own. */
  readonly dataDir: string | null
  /** Its name on a server of many; null for a server's own database. */
  readonly cabinet: string | null
}

type Place = Pick<Settings, "databaseUrl" | "readerUrl" | "authorUrl" | "dataDir">

/** `serve` holds the data directory alone; `join` uses whatever is there. Both for as long as the scope is open. */
export const cabinetDatabase = (
  place: Place,
  role: "serve" | "join",
): Effect.Effect<CabinetDatabase, StartError, Scope.Scope> =>
  Effect.gen(function* () {
    const { url, dataDir } = yield* location(place, role)
    const opened = yield* openDatabase({
      url,
      readerUrl: place.readerUrl ?? undefined,
      authorUrl: place.authorUrl ?? undefined,
    })
    return { ...opened, url, dataDir, cabinet: null }
  })

const location = (place: Place, role: "serve" | "join") => {
  if (place.databaseUrl !== null) return Effect.succeed({ url: place.databaseUrl, dataDir: null })
  const open = role === "serve" ? EmbeddedPostgres.serve : EmbeddedPostgres.join
  return open({ dataDir: place.dataDir }).pipe(
    Effect.mapError((error) => new StartError({ code: "embedded", message: error.message })),
  )
}
