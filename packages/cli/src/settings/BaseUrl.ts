/**
 * The address under which others reach the cabinet. A server records it in its data directory, so that a command run beside
 * it, or after it, prints working intake addresses without being told where the server listens.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { BaseUrl } from "@data-cabinet/core/source/BaseAddress"
import { isGiven, type SettingSources } from "./ReadSettings.ts"
import type { Settings } from "./Settings.ts"

const noteIn = (dataDir: string): string => join(dataDir, "served-at")

/** The address of a server that listens there, as seen from its own machine. */
export const listeningUrl = (host: string, port: number): string => {
  const local = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host
  return `http://${local.includes(":") ? `[${local}]` : local}:${port}`
}

/** Replaced as a whole: the existing file may be half read at this moment, or belong to another user. */
export const noteBaseUrl = (dataDir: string, baseUrl: string): void => {
  const fresh = `${noteIn(dataDir)}.${process.pid}`
  writeFileSync(fresh, `${baseUrl}\n`, { mode: 0o600 })
  renameSync(fresh, noteIn(dataDir))
}

const noted = (dataDir: string): string | null => {
  try {
    const text = readFileSync(noteIn(dataDir), "utf8").trim()
    return URL.canParse(text) ? text : null
  } catch {
    return null
  }
}

/** For a command that serves nothing itself. */
export const knownBaseUrl = (settings: Settings, sources: SettingSources, dataDir: string | null): BaseUrl => {
  if (settings.baseUrl !== null) return { url: settings.baseUrl, known: true }
  const byHand = isGiven("port", sources) || isGiven("host", sources)
  const note = dataDir === null || byHand ? null : noted(dataDir)
  return { url: note ?? listeningUrl(settings.host, settings.port), known: byHand || note !== null }
}
