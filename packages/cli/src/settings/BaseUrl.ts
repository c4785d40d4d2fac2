/**
 * The URL under which others reach the cabinet: the one that is set, or else the one that a server recorded in the
 * database, so that a command run anywhere prints working intake addresses without knowing where the server listens.
 */
import type { BaseUrl } from "@data-cabinet/core/source/BaseAddress"
import { isGiven, type SettingSources } from "./ReadSettings.ts"
import type { Settings } from "./Settings.ts"

/** The URL of a server that listens there, as seen from its own machine. */
export const listeningUrl = (host: string, port: number): string => {
  const local = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host
  return `http://${local.includes(":") ? `[${local}]` : local}:${port}`
}

/** For commands that do not serve; `noted`: the base URL kept in the database. */
export const knownBaseUrl = (
  { baseUrl, host, port }: Pick<Settings, "baseUrl" | "host" | "port">,
  noted: string | null,
  sources?: SettingSources,
): BaseUrl => {
  const url = baseUrl ?? noted
  if (url !== null) return { url, known: true }
  const byHand = sources !== undefined && (isGiven("port", sources) || isGiven("host", sources))
  return { url: listeningUrl(host, port), known: byHand }
}
