/**
 * The address that others reach the cabinet by. A server notes it in its data directory, so that a command run beside it,
 * or after it, prints intake addresses that work without being told where the server listens.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { isGiven, type SettingSources } from "./ReadSettings.ts"
import type { Settings } from "./Settings.ts"

const noteIn = (dataDir: string): string => join(dataDir, "served-at")

/** What a server is reached by that listens there, as seen from its own machine. */
export const listeningUrl = (host: string, port: number): string => {
  const local = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host
  return `http://${local.includes(":") ? `[${local}]` : local}:${port}`
}

/** Replaced as a whole: the one that is there may be half read just now, or another user's. */
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

export interface BaseUrl {
  readonly url: string
  /** False where nobody said it and no server has noted it: then it is what a server would have by default. */
  readonly known: boolean
}

/** For a command that serves nothing itself. */
export const knownBaseUrl = (settings: Settings, sources: SettingSources, dataDir: string | null): BaseUrl => {
  if (settings.baseUrl !== null) return { url: settings.baseUrl, known: true }
  const byHand = isGiven("port", sources) || isGiven("host", sources)
  const note = dataDir === null || byHand ? null : noted(dataDir)
  return { url: note ?? listeningUrl(settings.host, settings.port), known: byHand || note !== null }
}
