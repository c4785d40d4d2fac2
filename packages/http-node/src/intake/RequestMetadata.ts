/** What is kept of a request's headers: five of them and the address, nothing else. */
import type { Sender } from "@data-cabinet/core/intake/IntakeRequest"
import type { Request } from "../server/Request.ts"

/** `ip` as resolved by the caller. */
export const requestMetadata = (headers: Request["headers"], ip: string | null): Sender => ({
  contentType: headerText(headers["content-type"]),
  ip,
  referer: headerText(headers["referer"]) ?? null,
  origin: headerText(headers["origin"]) ?? null,
  userAgent: headerText(headers["user-agent"]) ?? null,
  acceptLanguage: headerText(headers["accept-language"]) ?? null,
})

/** Node reads header bytes as Latin-1; most senders that go beyond ASCII mean UTF-8. Control characters become U+FFFD. */
export const headerText = (value: string | undefined): string | undefined => {
  if (value === undefined || PLAIN.test(value)) return value
  const bytes = Buffer.from(value, "latin1")
  const text = /[^\0-\xff]/.test(value) ? value : (decoded(bytes) ?? value)
  return text.toWellFormed().replaceAll(CONTROL, "\uFFFD")
}

const PLAIN = /^[\x20-\x7e]*$/

// eslint-disable-next-line no-control-regex -- they are what it looks for
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/g

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const decoded = (bytes: Uint8Array): string | undefined => {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}
