/**
 * What a client prefers: the form of a response, and how long it would rather wait than get an empty one.
 *
 * The form is JSON unless the client names another one: a range with an asterisk, which most clients send by default, does
 * not count.
 */
import { qualityOf } from "../html/Language.ts"

const JSON_TYPE = "application/json"

/** Which of these types an `Accept` header names: the first of the best quality; null for JSON. */
export const acceptedType = (header: string | undefined, types: ReadonlyArray<string>): string | null => {
  // Most requests end here.
  if (header === undefined || header === "*/*" || header === JSON_TYPE) return null
  let best: string | null = null
  let bestQuality = 0
  for (const range of header.split(",")) {
    const [type = "", ...parameters] = range.split(";")
    const name = type.trim().toLowerCase()
    if (name !== JSON_TYPE && !types.includes(name)) continue
    const quality = qualityOf(parameters)
    if (quality > bestQuality) {
      best = name === JSON_TYPE ? null : name
      bestQuality = quality
    }
  }
  return best
}

const WAIT = /(?:^|,)\s*wait\s*=\s*("?)(\d{1,9})\1\s*(?=[,;]|$)/i

/** In seconds, at most `most`; null without the preference, or for a malformed one, which the RFC says to ignore. */
export const preferredWait = (header: string | undefined, most: number): number | null => {
  if (header === undefined) return null
  const seconds = WAIT.exec(header)?.[2]
  return seconds === undefined ? null : Math.min(Number(seconds), most)
}
