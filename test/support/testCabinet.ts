/**
 * A cabinet over a test database, composed as `serve` composes it, so that no test picks adapters by hand. A test names the
 * settings that it is about, and may replace some adapters.
 */
import { type CabinetOptions, portsLayer } from "../../packages/cli/src/compose/CabinetLayer.ts"
import { useCasesLayer } from "../../packages/cli/src/compose/UseCasesLayer.ts"
import { httpLayer, type HttpOptions } from "../../packages/cli/src/compose/HttpLayer.ts"
import { readSettings } from "../../packages/cli/src/settings/ReadSettings.ts"
import type { Settings } from "../../packages/cli/src/settings/Settings.ts"
import * as Server from "@data-cabinet/http-node/routes/Server"
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import { ensureRoles, type Roles } from "@data-cabinet/store-pg/migrations/PgRoles"
import * as DeferredRows from "@data-cabinet/store-pg/row/DeferredRows"
import { Effect, Layer, ManagedRuntime } from "effect"

type Ports = Layer.Success<ReturnType<typeof portsLayer>>

export interface TestCabinetOptions<Overridden = never, Needed extends Ports = never> extends Pick<
  CabinetOptions,
  "maxConnections" | "maxReaderConnections" | "memory"
> {
  /** `reading: "on"` creates the roles of the reader and the author, unless `roles` has them. */
  readonly settings?: Partial<CabinetOptions["settings"]>
  /** Existing roles. */
  readonly roles?: Roles
  /** Whether it is notified of events that other processes accept. */
  readonly delivers?: boolean
  /** Adapters that replace the real ones, and may use them. */
  readonly override?: Layer.Layer<Overridden, unknown, Needed>
}

/** The default settings, without the reader's and the author's roles and without the console. */
const DEFAULTS: Settings = {
  ...Effect.runSync(readSettings({ given: {}, env: {} })),
  reading: "off",
  console: "off",
}

const NO_ROLE = { there: false, role: "none", reason: "This test reads no rows." } as const

const rolesOf = (url: string, reading: CabinetOptions["settings"]["reading"]): Effect.Effect<Roles, unknown> =>
  reading === "on"
    ? ensureRoles({ url }).pipe(Effect.provide(OwnerClient.layer({ url })))
    : Effect.succeed({ reader: NO_ROLE, author: NO_ROLE, administratorSql: null })

/** Opens a cabinet, which writes deferred rows as every server does. A second call simulates a second process. */
export const testCabinetLayer = <Overridden = never, Needed extends Ports = never>(
  url: string,
  { settings = {}, delivers = false, override, roles: made, ...rest }: TestCabinetOptions<Overridden, Needed> = {},
) => {
  const all = { ...DEFAULTS, ...settings }
  return Layer.unwrap(
    Effect.map(made === undefined ? rolesOf(url, all.reading) : Effect.succeed(made), (roles) => {
      const options: CabinetOptions = { ...rest, url, roles, settings: all, delivers }
      const ports = portsLayer(options)
      const chosen: typeof ports =
        override === undefined
          ? ports
          : Layer.merge(
              ports,
              Layer.fresh(override as unknown as Layer.Layer<never, never, Ports>).pipe(Layer.provide(ports)),
            )
      return DeferredRows.layer.pipe(Layer.provideMerge(useCasesLayer(options)), Layer.provideMerge(chosen))
    }),
  )
}

export const testCabinet = <Overridden = never, Needed extends Ports = never>(
  url: string,
  options: TestCabinetOptions<Overridden, Needed> = {},
) => ManagedRuntime.make(testCabinetLayer(url, options))

export interface TestServerOptions<Overridden = never, Needed extends Ports = never> extends TestCabinetOptions<
  Overridden,
  Needed
> {
  readonly baseUrl: string
  readonly http?: Partial<HttpOptions["settings"]>
}

/** Opens a cabinet with a real HTTP server on the loopback, whose port is in `Listener`. */
export const testServerLayer = <Overridden = never, Needed extends Ports = never>(
  url: string,
  { baseUrl, http = {}, ...options }: TestServerOptions<Overridden, Needed>,
) =>
  Server.layer({ metrics: false, port: 0, host: "127.0.0.1" }).pipe(
    Layer.provide(httpLayer({ baseUrl, baseUrlKnown: true, settings: { ...DEFAULTS, ...http } })),
    Layer.provideMerge(testCabinetLayer(url, options)),
  )
