/** A server of many cabinets, composed: the registry, the cabinets that are open, and the rounds over the others. */
import { CabinetRegistry } from "@data-cabinet/core/cabinet/CabinetRegistry"
import { Cabinets } from "@data-cabinet/http-node/cabinet/Cabinets"
import * as PgCabinetSignal from "@data-cabinet/store-pg/cabinet/PgCabinetSignal"
import { PgClient } from "@effect/sql-pg"
import { type Duration, Effect, Layer, Schedule } from "effect"
import type { CabinetDatabase } from "./CabinetDatabase.ts"
import { cabinetRounds } from "./CabinetRounds.ts"
import { readinessLayer } from "./HttpLayer.ts"
import { manyCabinets } from "./ManyCabinets.ts"
import { cabinetUrl, registryLayer } from "./PickCabinet.ts"
import type { Settings } from "./Settings.ts"
import { StartError } from "./StartError.ts"

export interface OpenManyOptions {
  /** The server's own: it holds the registry, and is served as no cabinet. */
  readonly database: CabinetDatabase
  readonly settings: Settings
  readonly serviceDomain: string
  readonly delivers: boolean
  readonly polls: boolean
  readonly idle?: Duration.Input
}

/** A name that went, or whose database moved, is noticed within this. */
const RELOAD = "10 seconds"

const cabinetsLayer = ({ settings, serviceDomain, delivers, polls, idle }: OpenManyOptions) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const many = yield* manyCabinets({
        settings,
        delivers,
        polls,
        baseUrlOf: (name) => cabinetUrl(settings, name),
        inUse: (name) =>
          delivers ? Effect.void : Effect.provideService(PgCabinetSignal.tell(name), PgClient.PgClient, sql),
        ...(idle === undefined ? {} : { idle }),
      })
      yield* many.reload
      if (delivers) yield* cabinetRounds(many, settings.retentionDays)
      yield* many.reload.pipe(Effect.ignore, Effect.repeat(Schedule.spaced(RELOAD)), Effect.forkScoped)
      const registry = yield* CabinetRegistry
      const thenReload = <A, E>(change: Effect.Effect<A, E>) => Effect.tap(change, () => Effect.ignore(many.reload))
      return Layer.merge(
        Cabinets.many(serviceDomain, many.find),
        // What this process changes it goes by at once.
        Layer.succeed(CabinetRegistry, {
          ...registry,
          add: (name, databaseUrl) => thenReload(registry.add(name, databaseUrl)),
          remove: (name) => thenReload(registry.remove(name)),
        }),
      )
    }),
  )

/** `Cabinets`, `CabinetRegistry` and `Readiness`, for as long as the scope is open. */
export const openMany = (options: OpenManyOptions) =>
  Layer.build(
    Layer.merge(cabinetsLayer(options), readinessLayer).pipe(Layer.provide(registryLayer(options.database))),
  ).pipe(Effect.mapError((error) => new StartError({ code: "database_unreachable", message: error.message })))
