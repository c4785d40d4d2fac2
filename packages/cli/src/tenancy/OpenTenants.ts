/** A server of many cabinets, composed: the registry, the open cabinets, and the scheduler for the others. */
import { background } from "@data-cabinet/core/runtime/Background"
import { CabinetRegistry } from "@data-cabinet/core/tenancy/CabinetRegistry"
import type { ProgramSignIn } from "@data-cabinet/http-node/session/ExternalSignIn"
import { Cabinets } from "@data-cabinet/http-node/routes/Cabinets"
import * as PgCabinetSignal from "@data-cabinet/store-pg/tenancy/PgCabinetSignal"
import type { KeptDays } from "@data-cabinet/store-pg/maintenance/NextDue"
import { dueInUse } from "@data-cabinet/store-pg/tenancy/PgRegistryDue"
import { PgClient } from "@effect/sql-pg"
import { type Duration, Effect, Layer } from "effect"
import type { CabinetDatabase } from "../compose/CabinetDatabase.ts"
import { tenantScheduler } from "./TenantScheduler.ts"
import * as LastWords from "@data-cabinet/store-pg/embedded/LastWords"
import { readinessLayer } from "../compose/HttpLayer.ts"
import { tenantPool } from "./TenantPool.ts"
import { cabinetUrl, registryLayer } from "./ResolveTenant.ts"
import type { Settings } from "../settings/Settings.ts"
import { StartError } from "../error/StartError.ts"

export interface OpenTenantsOptions {
  /** The server's own database: it holds the registry, and is not served as a cabinet. */
  readonly database: CabinetDatabase
  readonly settings: Settings
  readonly serviceDomain: string
  readonly delivers: boolean
  readonly polls: boolean
  readonly signIn?: ProgramSignIn | undefined
  readonly idle?: Duration.Input
}

/** The removal of a name, or a moved database, is noticed within this time. */
const RELOAD = "10 seconds"

/** A change that no trigger noted is noticed within this time. */
const RELOAD_WHOLE = "1 hour"

const keptDaysOf = ({ retentionDays: originalDays, logDays, failedLogDays, auditDays }: Settings): KeptDays => ({
  originalDays,
  logDays,
  failedLogDays,
  auditDays,
})

const cabinetsLayer = ({ settings, serviceDomain, delivers, polls, signIn, idle }: OpenTenantsOptions) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const many = yield* tenantPool({
        settings,
        delivers,
        polls,
        signIn,
        baseUrlOf: (name) => cabinetUrl(settings, name),
        inUse: (name) =>
          Effect.andThen(
            delivers ? Effect.void : PgCabinetSignal.notify(name),
            // Without it, a worker looks at the cabinet once more than it needs to.
            Effect.ignore(dueInUse(name, delivers && polls), { log: "Debug" }),
          ).pipe(Effect.provideService(PgClient.PgClient, sql)),
        ...(idle === undefined ? {} : { idle }),
      })
      yield* many.reload
      if (delivers) yield* tenantScheduler(many, { kept: keptDaysOf(settings), polls })
      yield* background("tenant registry reload", RELOAD, many.reload)
      yield* background("tenant registry whole", RELOAD_WHOLE, many.reloadWhole, { firstAfter: RELOAD_WHOLE })
      const registry = yield* CabinetRegistry
      const thenReload = <A, E>(change: Effect.Effect<A, E>) => Effect.tap(change, () => Effect.ignore(many.reload))
      return Layer.merge(
        Cabinets.many(serviceDomain, many.find),
        // Changes by this process take effect at once.
        Layer.succeed(CabinetRegistry, {
          ...registry,
          add: (name, databaseUrl) => thenReload(registry.add(name, databaseUrl)),
          move: (name, databaseUrl) => thenReload(registry.move(name, databaseUrl)),
          remove: (name) => thenReload(registry.remove(name)),
        }),
      )
    }),
  )

/** `Cabinets`, `CabinetRegistry` and `Readiness`, for as long as the scope is open. */
export const openTenants = (options: OpenTenantsOptions) =>
  Layer.build(
    Layer.merge(cabinetsLayer(options), readinessLayer).pipe(
      Layer.provide([registryLayer(options.database), LastWords.layer(options.database.dataDir)]),
    ),
  ).pipe(Effect.mapError((error) => new StartError({ code: "database_unreachable", message: error.message })))
