/**
 * Adds cabinets to a server of many, and moves them between databases.
 *
 * Decision: docs/decisions/0049-moving-a-cabinet.md
 */
import { CabinetRegistry } from "@data-cabinet/core/tenancy/CabinetRegistry"
import { clientPrograms, CopyError } from "@data-cabinet/store-pg/tenancy/ClientPrograms"
import { checkTarget, copyDatabase } from "@data-cabinet/store-pg/tenancy/CopyDatabase"
import { quiesced, reopen } from "@data-cabinet/store-pg/tenancy/Quiesce"
import { Effect } from "effect"
import { describeUrl, openDatabase } from "../compose/OpenDatabase.ts"

/**
 * Registers the cabinet and brings its database up to date. Without a URL a database is created beside the server's
 * own.
 */
export const addTenant = Effect.fnUntraced(function* (name: string, databaseUrl: string | null) {
  // A faulty URL is reported before the name is taken.
  if (databaseUrl !== null) yield* openDatabase({ url: databaseUrl })
  const cabinet = yield* CabinetRegistry.use((registry) => registry.add(name, databaseUrl))
  yield* openDatabase({ url: cabinet.databaseUrl })
  return cabinet
})

/**
 * Moves a cabinet of a server of many into an empty database on another PostgreSQL. While it is copied, it can be read and
 * accepts nothing: intake responds with 503 and senders retry. The old database is closed before the registry leads to the
 * new one, so no server accepts an event that the new one lacks. The new server begins a new epoch of the feed by itself,
 * and cursors from before stay valid. `bin`: where PostgreSQL's programs may be, besides the path.
 */
export const moveTenant = Effect.fnUntraced(function* (name: string, url: string, bin: string | undefined) {
  const registry = yield* CabinetRegistry
  const before = yield* registry.find(name)
  const from = before.databaseUrl
  const programs = yield* clientPrograms(bin, yield* checkTarget(from, url))
  // The registry still leads here, so the move that closed it did not complete.
  yield* reopen(from)
  const open = openDatabase({ url }).pipe(
    Effect.map(({ roles }) => roles),
    Effect.mapError(({ message }) => new CopyError({ code: "unfit", message })),
  )
  const remedy = `Nothing was moved: the cabinet stays in ${describeUrl(from)}. Empty the target before you try again.`
  yield* quiesced(from, copyDatabase({ from, to: url, programs, open })).pipe(
    Effect.mapError(({ code, message }) => new CopyError({ code, message: `${message} ${remedy}` })),
  )
  return { before, after: yield* registry.move(name, url) }
})
