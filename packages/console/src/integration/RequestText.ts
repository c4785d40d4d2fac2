/** The request of a delivery as it is shown: its headers and body, and a curl command that sends the same. */
import type { SignedRequest } from "@data-cabinet/core/delivery/SignedRequest"
import { shellWord } from "@data-cabinet/core/text/ShellWord"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { longText } from "../html/LongText.ts"
import { copyField } from "../html/Menu.ts"
import { type Frame, may } from "../html/Shell.ts"

/** Enough to send the same request. */
const SIGNATURES = new Set(["X-Service-Signature", "webhook-signature"])

const HIDDEN = "•••"

/** Longer bodies do not fit a command line. */
const MOST_CHARACTERS = 50_000

/**
 * The values of the address's own headers are not known: each is a variable of the shell. Null for characters that no
 * shell word can hold.
 */
export const requestCurl = ({ method, url, headers, body }: SignedRequest): string | null => {
  if (body.length > MOST_CHARACTERS) return null
  const words = headers.map(({ name, value }) => {
    if (value !== null) return shellWord(`${name}: ${value}`)
    return `"${name}: $${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}"`
  })
  const ends = [shellWord(body), shellWord(url)]
  if ([...words, ...ends].includes(null)) return null
  return `curl -X ${method} ${words.map((word) => `-H ${word}`).join(" ")} --data-raw ${ends[0]} ${ends[1]}`
}

const HEADER_NAME = /[^A-Za-z0-9-]/

/** `url`: as the visitor may see it. `request`: null if it cannot be written. */
export const requestPart = (frame: Frame, request: SignedRequest | null, url: string): HtmlValue => {
  const { deliveries: words, table } = frame.words
  if (request === null) return markup`<p>${words.noRequest}</p>`
  const isTrusted = may(frame, "delivery.change")
  const line = ({ name, value }: SignedRequest["headers"][number]): Html => {
    const shown = value === null || (SIGNATURES.has(name) && !isTrusted) ? HIDDEN : value
    return markup`<dt class="mono">${name}</dt><dd class="mono">${shown}</dd>`
  }
  const curl = isTrusted && !request.headers.some(({ name }) => HEADER_NAME.test(name)) ? requestCurl(request) : null
  return markup`<p class="soft">${words.requestNow}</p><p class="mono"><b>${request.method}</b> ${url}</p><dl class="facts">${request.headers.map(line)}</dl><pre class="text" tabindex="0">\n${longText(request.body)}</pre>${curl !== null && copyField("copy-curl", "curl", curl, table.copy)}`
}
