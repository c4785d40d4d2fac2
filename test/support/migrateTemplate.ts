/**
 * Migrates the template of all test databases to the current schema. Roles belong to the whole cluster and are named after
 * their database, so a test that needs them creates them in its own clone.
 */
import { layer } from "@data-cabinet/store-pg/connection/OwnerClient"
import { migrate } from "@data-cabinet/store-pg/migrations/PgMigrations"
import { Effect } from "effect"

/** `url` is the owner's URL. */
export const migrateTemplate = (url: string): Promise<void> =>
  migrate.pipe(Effect.asVoid, Effect.provide(layer({ url, maxConnections: 1 })), Effect.runPromise)
