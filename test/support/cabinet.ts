/** The store of a test database: every port that is PostgreSQL, on connections of its own, for as long as the scope is open. */
import * as DeliverySignal from "@data-cabinet/core/delivery/DeliverySignal"
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import * as PgEventLog from "@data-cabinet/store-pg/event/PgEventLog"
import * as PgFeedStore from "@data-cabinet/store-pg/feed/PgFeedStore"
import * as PgRateLimiter from "@data-cabinet/store-pg/limit/PgRateLimiter"
import * as DeferredRows from "@data-cabinet/store-pg/row/DeferredRows"
import { Layer, ManagedRuntime } from "effect"
import { apiKeysLayer, sourcesLayer } from "./useCases.ts"

/** The ports over one database. Call it again for a second process' worth of connections. */
export const storeLayer = (url: string) =>
  Layer.mergeAll(
    PgEventLog.layer,
    sourcesLayer,
    PgFeedStore.layer,
    apiKeysLayer,
    PgRateLimiter.layer({ apiRate: 120, intakeRate: 60 }),
    DeferredRows.layer,
  ).pipe(Layer.provideMerge(DeliverySignal.DeliverySignal.layer), Layer.provideMerge(OwnerClient.layer({ url })))

export const storeRuntime = (url: string) => ManagedRuntime.make(storeLayer(url))
