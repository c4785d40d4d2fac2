/** Decides where a response redirects a poll, and which headers are sent there. */
import { maskUrl } from "@data-cabinet/core/network/MaskedUrl"

export const MAX_REDIRECTS = 5

/** 300 and 305 leave a choice to a person; 304 is not a redirect. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** The longest text of a target, in characters. */
const MAX_SHOWN_LENGTH = 200

export const shownTarget = (target: string): string => maskUrl(target).slice(0, MAX_SHOWN_LENGTH)

/**
 * The target of a redirect, or a text with the reason why it is not followed; null if the response is not a redirect. The
 * target's host is not checked here.
 */
export const redirectTarget = (status: number, location: string | null, from: URL): URL | string | null => {
  if (!REDIRECTS.has(status) || location === null) return null
  if (!URL.canParse(location, from.href)) return `responded with ${status}, a redirect to what is not a URL`
  const target = new URL(location, from)
  target.hash = ""
  const shown = shownTarget(location)
  if (target.protocol !== "http:" && target.protocol !== "https:") {
    return `responded with ${status}, a redirect to ${shown}, which is neither http nor https`
  }
  // Otherwise anyone who can change responses on their way could send events.
  return from.protocol === "https:" && target.protocol === "http:"
    ? `responded with ${status}, a redirect to ${shown}; a redirect from https to http is not followed`
    : target
}

/** Headers of a poll that never hold credentials, in lower case. */
const HARMLESS: ReadonlySet<string> = new Set(["accept", "accept-language", "user-agent"])

type Headers = ReadonlyArray<readonly [name: string, value: string]>

/** The poll's own headers for a target. Those that may be credentials are sent only to the origin they were given for. */
export const headersFor = (headers: Headers, from: URL, target: URL): Headers =>
  from.origin === target.origin ? headers : headers.filter(([name]) => HARMLESS.has(name.toLowerCase()))
