/** A selection in other forms: its API address, a curl command, and a `cabinet rows` command. */
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { withQuery } from "./SelectionLinks.ts"

/**
 * A word of a shell's command line, in one line: a field to copy from holds no more. What has control characters is written
 * as bash and zsh read it.
 */
export const shellWord = (text: string): string => {
  if (/^[\w./:=@%+-]+$/.test(text)) return text
  // oxlint-disable-next-line no-control-regex
  if (!/[\u0000-\u001f\u007f]/.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`
  // oxlint-disable-next-line no-control-regex
  const escaped = text.replaceAll(/[\u0000-\u001f\u007f'\\]/g, (unit) =>
    unit === "'" || unit === "\\" ? `\\${unit}` : `\\x${unit.charCodeAt(0).toString(16).padStart(2, "0")}`,
  )
  return `$'${escaped}'`
}

export const apiAddress = (baseUrl: string, schema: string, name: string, pairs: Pairs): string =>
  withQuery(`${baseUrl}/api/v1/tables/${encodeURIComponent(schema)}/${encodeURIComponent(name)}/rows`, pairs)

export const curlCall = (address: string): string => `curl -H "X-API-Key: $CABINET_KEY" ${shellWord(address)}`

/** With the contract's own parameters, so that nothing is lost in the translation. */
export const commandLine = (schema: string, name: string, pairs: Pairs): string =>
  ["cabinet rows", shellWord(`${schema}.${name}`), ...pairs.map(([key, value]) => `--${key} ${shellWord(value)}`)].join(
    " ",
  )

/** Longer bodies are sent from a file. */
const MOST_CHARACTERS = 50_000

/** A request as it was sent, to an intake address that is filled in; null for what no command line holds. */
export const sentAgain = (baseUrl: string, contentType: string | null, body: Uint8Array): string | null => {
  const text = Buffer.from(body).toString("utf8")
  // NUL ends a word, and what is no UTF-8 would be sent as other bytes.
  if (text.length > MOST_CHARACTERS || text.includes("\0") || !Buffer.from(text).equals(body)) return null
  const type = contentType === null ? "-H Content-Type:" : `-H ${shellWord(`Content-Type: ${contentType}`)}`
  return `curl -X POST ${type} --data-raw ${shellWord(text)} "${baseUrl}/webhook/$INTAKE_SECRET"`
}
