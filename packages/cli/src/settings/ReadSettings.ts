/**
 * Reads the settings: a flag takes precedence over the environment, the environment over the default. An invalid one is
 * refused with an explanation before anything is opened.
 */
import { Effect, Result } from "effect"
import { wrongCold } from "./ColdSettings.ts"
import { completeDatabaseUrls } from "./CompleteDatabaseUrls.ts"
import { secretSettings, type SettingName, SETTINGS, type Settings } from "./Settings.ts"
import { StartError } from "../error/StartError.ts"
import type { Setting } from "./SettingForm.ts"

export interface SettingSources {
  /** Values from the command line or from a program; undefined if not given. */
  readonly given: { readonly [Name in SettingName]?: string | undefined }
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The text of a setting, and its name for error messages. */
const found = (name: SettingName, { given, env }: SettingSources) => {
  const { env: variable, flag } = SETTINGS[name]
  const byHand = given[name]
  if (byHand !== undefined) return { text: byHand, called: `--${flag}` }
  const inEnv = env[variable]
  // Many tools unset a variable by making it empty.
  return inEnv === undefined || inEnv.trim() === "" ? undefined : { text: inEnv.trim(), called: variable }
}

/** Why a server of many cabinets cannot use these settings, in words; null if it can. */
const wrongForMany = ({ baseUrl }: Settings, sources: SettingSources): string | null => {
  if (baseUrl !== null && new URL(baseUrl).pathname !== "/") {
    const { called } = found("baseUrl", sources)!
    return `${called} is ${JSON.stringify(baseUrl)}: it must have no path, because with several cabinets each is served at the root of its own host.`
  }
  for (const name of ["readUrl", "readerUrl", "authorUrl"] as const) {
    const given = found(name, sources)
    if (given !== undefined)
      return `${given.called} applies to a single cabinet only: with several, each has its own database.`
  }
  return null
}

/** Why the settings for a proxy's sign-in would admit nobody, or everybody; null if they are sound. */
const wrongProxySignIn = (settings: Settings, sources: SettingSources): string | null => {
  const { consoleProxyHeader, consoleProxies } = settings
  const called = (name: SettingName) => found(name, sources)!.called
  if (consoleProxyHeader !== null && consoleProxies.length === 0) {
    return `${called("consoleProxyHeader")} is set, but no proxy is named in ${SETTINGS.consoleProxies.env}: anyone could sign in by sending the header.`
  }
  return consoleProxyHeader === null && consoleProxies.length > 0
    ? `${called("consoleProxies")} is set, but not ${SETTINGS.consoleProxyHeader.env}: name the header in which the proxy says whom it has signed in.`
    : null
}

const OIDC_SETTINGS = [
  "oidcClientId",
  "oidcClientSecret",
  "oidcNetworks",
  "oidcRole",
  "oidcRoleClaim",
  "oidcRoles",
  "oidcScope",
] as const satisfies ReadonlyArray<SettingName>

/** Why a sign-in by OpenID Connect is only half set; null if it is not. */
const wrongProvider = (settings: Settings, sources: SettingSources): string | null => {
  const { oidcIssuer, oidcClientId } = settings
  if (oidcIssuer !== null) {
    return oidcClientId === null
      ? `${found("oidcIssuer", sources)!.called} is set, but not ${SETTINGS.oidcClientId.env}.`
      : null
  }
  const stray = OIDC_SETTINGS.find((name) => found(name, sources) !== undefined)
  return stray === undefined
    ? null
    : `${found(stray, sources)!.called} is set, but not ${SETTINGS.oidcIssuer.env}: nobody signs in by OpenID Connect.`
}

/** All settings; fails on the first invalid one, with a sentence that names it. */
export const readSettings = (sources: SettingSources): Effect.Effect<Settings, StartError> =>
  Effect.gen(function* () {
    const settings: Record<string, unknown> = {}
    for (const name of Object.keys(SETTINGS) as ReadonlyArray<SettingName>) {
      const { form, fallback } = SETTINGS[name] as Setting<unknown>
      const { text, called } = found(name, sources) ?? { text: fallback, called: name }
      if (text === null) {
        settings[name] = null
        continue
      }
      const read = form(text)
      if (Result.isFailure(read)) {
        const isHidden = called.includes("atabase") || called.startsWith("DATABASE") || secretSettings.includes(name)
        const shown = isHidden ? "not valid" : JSON.stringify(text)
        const message = `${called} is ${shown}: it must be ${read.failure}.`
        return yield* new StartError({ code: "bad_setting", message })
      }
      settings[name] = read.success
    }
    const urls = completeDatabaseUrls(settings as unknown as Settings, sources.env)
    if (Result.isFailure(urls)) {
      const { name, words } = urls.failure
      const message = `${found(name, sources)!.called} is not valid: it must be ${words}.`
      return yield* new StartError({ code: "bad_setting", message })
    }
    const all = { ...settings, ...urls.success } as unknown as Settings
    const wrong =
      wrongProxySignIn(all, sources) ??
      wrongProvider(all, sources) ??
      wrongCold(all) ??
      (all.serviceDomain === null ? null : wrongForMany(all, sources))
    if (wrong !== null) return yield* new StartError({ code: "bad_setting", message: wrong })
    return all
  })

/** Whether a setting was given, as a flag or in the environment. */
export const isGiven = (name: SettingName, sources: SettingSources): boolean => found(name, sources) !== undefined
