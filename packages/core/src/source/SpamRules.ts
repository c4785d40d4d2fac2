/** How a source detects spam on a public form: by a field that people do not see, and by the form's origins. */

/** The most origins of a source. */
export const MAX_ORIGINS = 20
/** The longest origin, in characters. */
export const MAX_ORIGIN_LENGTH = 300
/** The longest name of a honeypot, in characters. */
export const MAX_HONEYPOT_LENGTH = 200

/** Null and empty: not used to detect spam. */
export interface SpamRules {
  /** A field of the form that people leave empty, the honeypot: an event in which it is filled is spam; null: none. */
  readonly honeypot: string | null
  /** The origins of pages with its form: submissions from others are spam; empty: any origin. */
  readonly allowOrigins: ReadonlyArray<string>
}

// eslint-disable-next-line no-control-regex -- none of them is in the name of a form's field
const CONTROL = /[\0-\x1f\x7f]/

/** Why no form has a field of this name, in words; null if one may. */
export const honeypotRefusal = (name: string): string | null => {
  if (name.trim() === "" || name.length > MAX_HONEYPOT_LENGTH || CONTROL.test(name) || !name.isWellFormed()) {
    return `honeypot: a field's name has 1 to ${MAX_HONEYPOT_LENGTH} characters, and no control characters.`
  }
  return name.startsWith("_") ? "honeypot: names that begin with _ are the cabinet's own." : null
}

/** Normalized as browsers send it; null if invalid. */
export const originOf = (text: string): string | null => {
  if (text.length > MAX_ORIGIN_LENGTH || !URL.canParse(text)) return null
  const { protocol, origin, hostname, pathname, search, hash, username, password } = new URL(text)
  // No browser sends a `*`: a user who writes one means any host, but every event would count as spam.
  if (hostname.includes("*")) return null
  const isBare = pathname === "/" && search === "" && hash === "" && username === "" && password === ""
  return /^https?:$/.test(protocol) && isBare ? origin : null
}

/** Why these are not origins, in words; null if they are. */
export const originsRefusal = (origins: ReadonlyArray<string>): string | null => {
  if (origins.length > MAX_ORIGINS)
    return `allow_origins lists ${origins.length} origins; at most ${MAX_ORIGINS} may be.`
  const wrong = origins.find((origin) => originOf(origin) === null)
  return wrong === undefined
    ? null
    : `allow_origins: ${JSON.stringify(wrong)} is not an origin such as https://www.example.com, without a path.`
}

/** Normalized as browsers send them, without duplicates. */
export const normalizedOrigins = (origins: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(origins.map((origin) => originOf(origin) ?? origin)),
]
