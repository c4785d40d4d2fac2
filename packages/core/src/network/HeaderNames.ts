/**
 * Which request headers a source may keep: names, or prefixes that are narrow enough. Refuses headers that carry
 * secrets.
 */

/** The most names in a setting. */
export const MAX_HEADER_NAMES = 50
/** The longest name, in characters. */
export const MAX_HEADER_NAME_LENGTH = 128

/** These are, or contain, credentials: none is ever kept, even if a prefix matches. */
const SECRET_HEADERS: ReadonlySet<string> = new Set([
  "authorization",
  "cookie",
  "proxy-authorization",
  "set-cookie",
  "x-api-key",
  "x-gitlab-token",
])

/** The original request stores each of these separately. */
const KEPT_ALWAYS: ReadonlySet<string> = new Set(["content-type", "referer", "origin", "user-agent", "accept-language"])

/** Whether every request is kept with this header. `name` in lower case. */
export const isAlwaysKept = (name: string): boolean => KEPT_ALWAYS.has(name)

/** `name` in lower case. */
export const isSecretHeader = (name: string): boolean => SECRET_HEADERS.has(name)

/** The characters of a header's name (RFC 9110, 5.1), without `*`, which ends a prefix here. */
const NAME = /^[0-9A-Za-z][!#$%&'+.^_`|~0-9A-Za-z-]*$/

/** True for a valid name of a header. */
export const isHeaderName = (name: string): boolean => name.length <= MAX_HEADER_NAME_LENGTH && NAME.test(name)

/** The least length of a prefix, not counting `X-`, that identifies one sender. */
const MIN_PREFIX_LENGTH = 3

/** The setting that is checked, and how. */
export interface HeaderNamesOptions {
  /** The setting, as its refusal names it. */
  readonly setting: string
  /** Whether a name may end with `*` and match all names that begin with it. */
  readonly prefixes: boolean
}

/** Why these names are refused, in words; null if they are not. */
export const headerNamesRefusal = (
  names: ReadonlyArray<string>,
  { setting, prefixes }: HeaderNamesOptions,
): string | null => {
  if (names.length > MAX_HEADER_NAMES)
    return `${setting} lists ${names.length} headers; at most ${MAX_HEADER_NAMES} may be.`
  const seen = new Set<string>()
  for (const name of names) {
    const lower = name.toLowerCase()
    const refusal = nameRefusal(name, lower, prefixes)
    if (refusal !== null) return `${setting}: ${refusal}`
    if (seen.has(lower)) return `${setting}: ${name} is listed twice.`
    seen.add(lower)
  }
  return null
}

const nameRefusal = (name: string, lower: string, prefixes: boolean): string | null => {
  if (name.length > MAX_HEADER_NAME_LENGTH) return `a name has at most ${MAX_HEADER_NAME_LENGTH} characters.`
  if (isSecretHeader(lower)) return `${name} is never kept, because it carries a secret.`
  const isPrefix = name.endsWith("*")
  const stem = isPrefix ? name.slice(0, -1) : name
  if (isPrefix && !prefixes) return `${name} is a prefix; name each header that becomes a field.`
  if (isPrefix && stem.replace(/^x-?/i, "").length < MIN_PREFIX_LENGTH) {
    return `${name} is too wide; a prefix has at least ${MIN_PREFIX_LENGTH} characters after X-, such as X-GitHub-*.`
  }
  return NAME.test(stem) ? null : `${JSON.stringify(name)} is not a header's name.`
}
