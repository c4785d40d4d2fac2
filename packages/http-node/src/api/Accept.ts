/**
 * The form in which a client wants a response. JSON, unless the client names another form: a range with an asterisk,
 * which most clients send by default, does not count.
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
