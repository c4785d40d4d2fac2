/**
 * The HTTP side of one cabinet, over the ports and use cases of a CabinetLayer: the requirements of servers and handlers.
 */
import * as Console from "@data-cabinet/console/Console"
import { CabinetHttp } from "@data-cabinet/http-node/routes/CabinetHttp"
import { Cabinets } from "@data-cabinet/http-node/routes/Cabinets"
import { HttpSettings } from "@data-cabinet/http-node/server/HttpSettings"
import { Readiness } from "@data-cabinet/http-node/server/Readiness"
import { BodyLimits } from "@data-cabinet/http-node/intake/BodyLimits"
import { trustedProxies } from "@data-cabinet/http-node/server/ClientAddress"
import * as Management from "@data-cabinet/http-node/routes/Management"
import { ProvidedRoles } from "@data-cabinet/core/person/ProvidedRole"
import * as NameLookup from "@data-cabinet/delivery/outgoing/NameLookup"
import * as PinnedClient from "@data-cabinet/delivery/outgoing/PinnedClient"
import * as OpenIdProvider from "@data-cabinet/delivery/person/OpenIdProvider"
import { type ProgramSignIn, ExternalSignIns } from "@data-cabinet/http-node/session/ExternalSignIn"
import { RowsDeadline } from "@data-cabinet/http-node/row/RowsEndpoint"
import { cannotWrite } from "@data-cabinet/store-pg/diagnostics/WriteCheck"
import { whatIsMissing } from "@data-cabinet/store-pg/diagnostics/PgReadiness"
import { machineMemory } from "@data-cabinet/store-pg/embedded/MachineMemory"
import type { WriteSessions } from "@data-cabinet/store-pg/connection/WriteSession"
import type { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { Settings } from "../settings/Settings.ts"

export interface HttpOptions {
  readonly baseUrl: string
  /** False if it is only where the server listens. */
  readonly baseUrlKnown: boolean
  readonly settings: Pick<
    Settings,
    | "apiOrigins"
    | "console"
    | "consoleProxies"
    | "consoleProxyHeader"
    | "consoleProxyRole"
    | "docsUrl"
    | "oidcClientId"
    | "oidcClientSecret"
    | "oidcIssuer"
    | "oidcNetworks"
    | "oidcRole"
    | "oidcRoleClaim"
    | "oidcRoles"
    | "oidcScope"
    | "intakeMaxBytes"
    | "statementTimeout"
    | "timeZone"
    | "trustedProxies"
  >
  /** For a program that identifies people itself. */
  readonly signIn?: ProgramSignIn | undefined
}

const externalSignInsOf = ({ settings, signIn }: HttpOptions) => {
  const { consoleProxyHeader: header, consoleProxies, consoleProxyRole: role } = settings
  return {
    program: signIn ?? null,
    warned: new Map(),
    proxy: header === null ? null : { header, isProxy: trustedProxies(consoleProxies), role },
  }
}

/** The identity provider gets a separate client, which may reach networks that deliveries may not. */
const providerLayer = ({ settings }: HttpOptions) => {
  const { oidcIssuer: issuer, oidcClientId: clientId } = settings
  if (issuer === null || clientId === null) return Layer.empty
  const provider = OpenIdProvider.layer({
    issuer,
    clientId,
    clientSecret: settings.oidcClientSecret,
    scope: settings.oidcScope,
    roleClaim: settings.oidcRoleClaim,
  })
  return Layer.merge(
    Layer.succeed(ProvidedRoles, { roles: settings.oidcRoles, fallback: settings.oidcRole }),
    provider.pipe(
      Layer.provide(PinnedClient.layer({ allowedNetworks: settings.oidcNetworks })),
      Layer.provide(NameLookup.layer()),
    ),
  )
}

export const readinessLayer = Layer.effect(
  Readiness,
  Effect.map(Effect.context<PgClient.PgClient | WriteSessions>(), (context) =>
    Readiness.of({
      check: Effect.flatMap(whatIsMissing, (missing) =>
        missing === null ? cannotWrite : Effect.succeed(missing),
      ).pipe(Effect.provideContext(context)),
    }),
  ),
)

/** The routes of one cabinet. */
export const cabinetHttpLayer = (options: HttpOptions) => {
  const { baseUrl, baseUrlKnown, settings } = options
  const http = Layer.succeed(HttpSettings, {
    baseUrl,
    baseUrlKnown,
    docsUrl: settings.docsUrl,
    apiOrigins: settings.apiOrigins,
    trustedProxies: settings.trustedProxies,
  })
  const limits = Layer.effect(
    BodyLimits,
    Effect.map(BodyLimits, (usual) => ({
      ...usual,
      maxBytes: settings.intakeMaxBytes,
      buffered: Math.min(usual.buffered, machineMemory() / 8),
    })),
  )
  // If queries may run longer, the deadline follows, plus a margin.
  const rows = Layer.effect(
    RowsDeadline,
    Effect.map(RowsDeadline, (usual) => Math.max(usual, settings.statementTimeout + 1_000)),
  )
  const screens =
    settings.console === "on" ? Console.layer({ timeZone: settings.timeZone }).pipe(Layer.provide(http)) : Layer.empty
  return CabinetHttp.layer.pipe(
    Layer.provide([http, limits, rows, Management.layer.pipe(Layer.provide(http)), screens]),
    Layer.provide([Layer.succeed(ExternalSignIns, externalSignInsOf(options)), providerLayer(options)]),
  )
}

export const httpLayer = (options: HttpOptions) =>
  Layer.merge(Cabinets.single.pipe(Layer.provide(cabinetHttpLayer(options))), readinessLayer)
