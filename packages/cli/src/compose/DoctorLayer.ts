/** The doctor of a cabinet with direct access to its database. */
import { DeliveryQueue } from "@data-cabinet/core/delivery/DeliveryQueue"
import { Diagnostics } from "@data-cabinet/core/diagnostics/Diagnostics"
import { Doctor } from "@data-cabinet/core/diagnostics/Doctor"
import { findingsOf } from "@data-cabinet/core/diagnostics/Findings"
import { snakeKeys } from "@data-cabinet/core/json/KeyCase"
import { connectionSecurity } from "@data-cabinet/store-pg/connection/ConnectionSecurity"
import { ReaderClient } from "@data-cabinet/store-pg/connection/ReaderClient"
import { orUnavailable } from "@data-cabinet/store-pg/connection/StoreFailure"
import { runsShipped, systemPostgres } from "@data-cabinet/store-pg/embedded/SystemPostgres"
import type { Roles } from "@data-cabinet/store-pg/migrations/PgRoles"
import { Effect, Layer } from "effect"
import type { Settings } from "../settings/Settings.ts"

export interface DoctorOptions {
  readonly url: string
  readonly roles: Roles
  readonly settings: Pick<Settings, "reading">
  /** Where the embedded PostgreSQL has its data; null for a database elsewhere. */
  readonly dataDir?: string | null
}

/** Alternatives to the shipped PostgreSQL, if the database runs on it. */
const shippedOf = (dataDir: string | null, version: string) =>
  dataDir === null || !runsShipped(dataDir)
    ? undefined
    : { major: Number.parseInt(version, 10), others: systemPostgres() }

export const layer = ({ url, roles, settings: { reading }, dataDir = null }: DoctorOptions) =>
  Layer.effect(
    Doctor,
    Effect.gen(function* () {
      const diagnosing = yield* Diagnostics
      const queue = yield* DeliveryQueue
      const { standby } = yield* ReaderClient
      return Doctor.of({
        examine: Effect.gen(function* () {
          const diagnostics = yield* diagnosing.examine
          const gauge = yield* queue.gauge
          const replica = standby === undefined ? null : yield* standby.settled
          const connection = yield* orUnavailable(connectionSecurity(url))
          const shipped = shippedOf(dataDir, diagnostics.serverVersion)
          const findings = findingsOf({ connection, roles, reading, diagnostics, standby: replica, gauge, shipped })
          return {
            ok: findings.every(({ level }) => level !== "bad"),
            findings,
            connection: snakeKeys(connection),
            database: snakeKeys(diagnostics),
            standby: snakeKeys(replica),
            deliveries: snakeKeys(gauge),
          }
        }),
      })
    }),
  )
