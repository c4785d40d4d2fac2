/**
 * The format of a delivery address: absolute, http or https, no credentials, at most 2,048 characters. Whether its host is
 * public is checked by `AddressCheck`.
 *
 * Decision: docs/decisions/0038-delivery-urls-may-be-secrets.md
 */
import { Result } from "effect"
import { AddressError } from "./AddressError.ts"

const MAX_LENGTH = 2048

const refuse = (message: string) => Result.fail(new AddressError({ code: "bad_url", message }))

/**
 * Parses the text as every later step does (`0x7f.1` becomes `127.0.0.1`), so that requests go to exactly the URL that
 * was checked. The fragment is dropped: it is never sent.
 */
export const parseAddressUrl = (text: string): Result.Result<URL, AddressError> => {
  if (text.length > MAX_LENGTH) return refuse(`The URL may have at most ${MAX_LENGTH} characters.`)
  const url = URL.parse(text.trim())
  if (url === null) return refuse("The URL must be absolute, such as https://example.com/hook.")
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    return refuse(`The URL must begin with https:// or http://, not ${url.protocol}//.`)
  }
  if (url.username !== "" || url.password !== "") {
    return refuse("The URL must not contain a user name or password.")
  }
  if (url.hostname === "") return refuse("The URL must name a host.")
  url.hash = ""
  return Result.succeed(url)
}
