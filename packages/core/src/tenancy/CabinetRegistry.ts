/**
 * The cabinets of a server with many tenants, and the database of each. Refuses names that cannot be part of a host
 * name, names and databases already in use, and cabinets that do not exist.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { type RegisteredCabinet, RegistryStore } from "./RegistryStore.ts"

/** A refused operation on the registry of cabinets. */
export class RegistryError extends Schema.TaggedError<RegistryError>()("RegistryError", {
  code: Schema.Literals(["bad_name", "name_taken", "database_taken", "database_not_made", "no_such_cabinet"]),
  message: Schema.String,
}) {}

export type { RegisteredCabinet }

/** A cabinet's name is the leftmost label of its host name. */
export const CABINET_NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

type Returns<A> = Effect.Effect<A, RegistryError | StoreUnavailable>

export class CabinetRegistry extends Context.Service<
  CabinetRegistry,
  {
    readonly list: Effect.Effect<ReadonlyArray<RegisteredCabinet>, StoreUnavailable>
    readonly find: (name: string) => Returns<RegisteredCabinet>
    /** Without a URL, creates a database next to the server's own, if the database user may. */
    readonly add: (name: string, databaseUrl: string | null) => Returns<RegisteredCabinet>
    /**
     * Serves it from now on from the database at this URL, which must contain all its data; the old database is kept.
     */
    readonly move: (name: string, databaseUrl: string) => Returns<RegisteredCabinet>
    /** Removes it from the registry; its database is kept. */
    readonly remove: (name: string) => Returns<RegisteredCabinet>
  }
>()("@data-cabinet/core/tenancy/CabinetRegistry") {
  static readonly layer = Layer.effect(
    CabinetRegistry,
    Effect.map(RegistryStore, (store) =>
      CabinetRegistry.of({
        list: store.list,
        find: (name) => existing(name, store.find(name)),
        add: Effect.fnUntraced(function* (name, databaseUrl) {
          if (!CABINET_NAME.test(name)) {
            const rule = "at most 63 lowercase letters, digits and hyphens, without a hyphen at either end"
            return yield* refuse("bad_name", `A cabinet's name is part of its host name: ${rule}.`)
          }
          if (Option.isSome(yield* store.find(name))) return yield* nameTaken(name)
          const database = databaseNameOf(name)
          const added = yield* store.add(name, databaseUrl === null ? { create: database } : { url: databaseUrl })
          switch (added.is) {
            case "added":
              return added.cabinet
            case "name_taken":
              return yield* nameTaken(name)
            case "database_registered":
              return yield* refuse("database_taken", "That database already belongs to another cabinet.")
            case "database_exists":
              return yield* refuse(
                "database_taken",
                `There is already a database ${database}, as after a cabinet of this name was removed. To use it for this cabinet, pass its URL.`,
              )
            case "denied":
              return yield* refuse(
                "database_not_made",
                `The database user may not create databases (${added.detail}). Let an administrator run: ALTER ROLE … CREATEDB; or create a database and pass its URL.`,
              )
          }
        }),
        move: Effect.fnUntraced(function* (name, databaseUrl) {
          const moved = yield* store.move(name, databaseUrl)
          switch (moved.is) {
            case "moved":
              return moved.cabinet
            case "missing":
              return yield* noSuchCabinet(name)
            case "database_registered":
              return yield* refuse("database_taken", "That database already belongs to another cabinet.")
          }
        }),
        remove: (name) => existing(name, store.remove(name)),
      }),
    ),
  )
}

/** The name of the database created for a cabinet. */
const databaseNameOf = (name: string): string => `cabinet_${name.replaceAll("-", "_")}`

const refuse = (code: RegistryError["code"], message: string) => Effect.fail(new RegistryError({ code, message }))

const nameTaken = (name: string) => refuse("name_taken", `There is already a cabinet ${name}.`)

const noSuchCabinet = (name: string) =>
  refuse("no_such_cabinet", `Cabinet ${name} does not exist. \`cabinet tenant list\` lists all cabinets.`)

const existing = (name: string, found: Effect.Effect<Option.Option<RegisteredCabinet>, StoreUnavailable>) =>
  Effect.flatMap(found, (cabinet) => (Option.isSome(cabinet) ? Effect.succeed(cabinet.value) : noSuchCabinet(name)))
