/**
 * Brings the template database of the test cluster to the current schema.
 * `url` is the owner's; whatever is done here, every test database begins with.
 */
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import { migrate } from "@data-cabinet/store-pg/migrations/PgMigrations"
import { Effect } from "effect"

export const migrateTemplate = (url: string): Promise<void> =>
  Effect.runPromise(migrate.pipe(Effect.asVoid, Effect.provide(OwnerClient.layer({ url }))))
