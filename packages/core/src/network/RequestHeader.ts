/** A custom header for requests that we send: the rules for its name and value. */
import { Result } from "effect"

export type RequestHeader = readonly [name: string, value: string]

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
const MAX_VALUE_LENGTH = 4096

/** The HTTP client sets these itself, or they belong to a single connection. */
const CLIENT_HEADERS = [
  "accept-encoding",
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]

/** Names that are refused besides those of the HTTP client, in lower case. */
export interface OwnHeaders {
  readonly names: ReadonlyArray<string>
  readonly prefixes: ReadonlyArray<string>
}

/** Fails with the reason in words. A value is a secret, so no reason contains it. */
export const requestHeaderCheck = (own: OwnHeaders) => {
  const refused = new Set([...CLIENT_HEADERS, ...own.names])
  return ([name, value]: RequestHeader): Result.Result<void, string> => {
    const lower = name.toLowerCase()
    if (!NAME.test(name) || refused.has(lower) || own.prefixes.some((prefix) => lower.startsWith(prefix))) {
      return Result.fail(`${name.slice(0, 100)} is not a header that can be set.`)
    }
    if (value.length > MAX_VALUE_LENGTH || !VALUE.test(value)) {
      return Result.fail(`The value of the header ${name} cannot be sent.`)
    }
    return Result.succeed(undefined)
  }
}
