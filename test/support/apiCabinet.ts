/**
 * A whole cabinet over a real PostgreSQL and a real HTTP server on the loopback: intake and API, as `serve` composes
 * them.
 */
import * as DeliverySignal from "@data-cabinet/core/delivery/DeliverySignal"
import { Feed } from "@data-cabinet/core/feed/Feed"
import { Intake } from "@data-cabinet/core/intake/Intake"
import { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import { Authenticate } from "@data-cabinet/core/key/Authenticate"
import { SelectRows } from "@data-cabinet/core/selection/SelectRows"
import { type NewSource, Sources } from "@data-cabinet/core/source/Sources"
import { CabinetHttp } from "@data-cabinet/http-node/server/CabinetHttp"
import { Cabinets } from "@data-cabinet/http-node/tenancy/Cabinets"
import { HttpSettings } from "@data-cabinet/http-node/server/HttpSettings"
import { Readiness } from "@data-cabinet/http-node/server/Readiness"
import { NO_PROXIES } from "@data-cabinet/http-node/limit/ClientAddress"
import { Listener } from "@data-cabinet/http-node/server/Listener"
import * as Server from "@data-cabinet/http-node/server/Server"
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import * as ReaderClient from "@data-cabinet/store-pg/connection/ReaderClient"
import * as PgEventLog from "@data-cabinet/store-pg/event/PgEventLog"
import * as PgCursorKeys from "@data-cabinet/store-pg/pagination/PgCursorKeys"
import * as PgFeedStore from "@data-cabinet/store-pg/feed/PgFeedStore"
import * as PgRateLimiter from "@data-cabinet/store-pg/limit/PgRateLimiter"
import { ensureRoles } from "@data-cabinet/store-pg/migrations/PgRoles"
import * as PgCatalog from "@data-cabinet/store-pg/row/PgCatalog"
import * as PgRowReader from "@data-cabinet/store-pg/row/PgRowReader"
import { Effect, Layer, ManagedRuntime } from "effect"
import type { ReceivedResponse } from "../../packages/http-node/test/support/DescribedResponse.ts"
import { apiKeysLayer, sourcesLayer } from "./useCases.ts"

export interface ApiCabinetOptions {
  readonly apiRate?: number
  /** 0 for no limit. */
  readonly intakeRate?: number
}

const served = (url: string, { apiRate = 100_000, intakeRate = 0 }: ApiCabinetOptions) => {
  const owner = OwnerClient.layer({ url })
  const reader = Layer.unwrap(
    Effect.map(ensureRoles({ url }), ({ reader: role }) =>
      role.there
        ? ReaderClient.layer({ url: role.url, role: role.role })
        : ReaderClient.layerOff(role.role, role.reason),
    ),
  )
  const ports = Layer.mergeAll(
    PgEventLog.layer,
    sourcesLayer,
    PgFeedStore.layer,
    PgCursorKeys.layer,
    apiKeysLayer,
    PgRateLimiter.layer({ apiRate, intakeRate }),
    Layer.mergeAll(PgCatalog.layer, PgRowReader.layer).pipe(Layer.provide(reader)),
    Layer.succeed(Readiness, { check: Effect.succeed(null) }),
    Layer.succeed(HttpSettings, { baseUrl: "https://orders.cabinet.test", docsUrl: null, trustedProxies: NO_PROXIES }),
  ).pipe(Layer.provide(DeliverySignal.DeliverySignal.layer), Layer.provide(owner))
  const useCases = Layer.mergeAll(Intake.layer, Feed.layer, SelectRows.layer, Authenticate.layer)
  return Server.layer({ metrics: false, port: 0, host: "127.0.0.1" }).pipe(
    Layer.provide(Cabinets.single),
    Layer.provide(CabinetHttp.layer),
    Layer.provide(useCases),
    Layer.provideMerge(ports),
  )
}

/** Serves the cabinet of a database. Call it twice for two servers of one cabinet. */
export const apiCabinet = async (url: string, options: ApiCabinetOptions = {}) => {
  const runtime = ManagedRuntime.make(served(url, options))
  const { port } = await runtime.runPromise(Listener)
  const base = `http://127.0.0.1:${port}`
  return {
    base,
    run: runtime.runPromise,
    key: async (name = "test") => (await runtime.runPromise(ApiKeys.use((keys) => keys.issue(name)))).key,
    source: (name: string, settings: Omit<NewSource, "name"> = {}) =>
      runtime.runPromise(Sources.use((sources) => sources.create({ name, ...settings }))),
    /** Sends a body to a source and gives the answer's JSON. */
    send: async (secret: string, body: string, contentType = "application/json") => {
      const response = await fetch(`${base}/webhook/${secret}`, {
        method: "POST",
        body,
        headers: { "content-type": contentType },
      })
      return (await response.json()) as any
    },
    /** Asks the API below /api/v1/. */
    ask: async (path: string, key: string): Promise<ReceivedResponse & { readonly json: any }> => {
      const response = await fetch(`${base}/api/v1/${path}`, { redirect: "manual", headers: { "x-api-key": key } })
      const answer = { status: response.status, headers: response.headers, text: await response.text() }
      return { ...answer, json: (answer.text === "" ? undefined : JSON.parse(answer.text)) as any }
    },
    close: () => runtime.dispose(),
  }
}

export type ApiCabinet = Awaited<ReturnType<typeof apiCabinet>>
