/** A selection in other forms: its API address, a curl command, and a `cabinet rows` command. */
import { shellInput, shellWord } from "@data-cabinet/core/text/ShellWord"
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { withQuery } from "../screen/SelectionLinks.ts"

export const apiAddress = (baseUrl: string, schema: string, name: string, pairs: Pairs): string =>
  withQuery(`${baseUrl}/api/v1/tables/${encodeURIComponent(schema)}/${encodeURIComponent(name)}/rows`, pairs)

/** The addresses made here hold only characters that a shell word can hold (see `shellWord`). */
const word = (text: string): string => shellWord(text) ?? ""

export const curlCall = (address: string): string => `curl -H "X-API-Key: $CABINET_KEY" ${word(address)}`

/** With the contract's own parameters, so that nothing is lost in the translation; null for values that no word can hold. */
export const commandLine = (schema: string, name: string, pairs: Pairs): string | null => {
  const words = [shellWord(`${schema}.${name}`), ...pairs.map(([, value]) => shellWord(value))]
  if (words.includes(null)) return null
  return ["cabinet rows", words[0], ...pairs.map(([key], at) => `--${key} ${words[at + 1]}`)].join(" ")
}

/** Longer bodies are sent from a file. */
const MOST_CHARACTERS = 50_000

/**
 * A request as it was sent, as a curl command with a placeholder for the intake address; null if too long, or if its
 * type cannot be a shell word. A body that cannot be a shell word becomes the input of curl.
 */
export const sentAgain = (baseUrl: string, contentType: string | null, body: Uint8Array): string | null => {
  const text = Buffer.from(body).toString("utf8")
  if (text.length > MOST_CHARACTERS || text.includes("\0") || !Buffer.from(text).equals(body)) return null
  const header = contentType === null ? "Content-Type:" : shellWord(`Content-Type: ${contentType}`)
  if (header === null) return null
  const address = `${word(`${baseUrl}/webhook/`)}"$INTAKE_SECRET"`
  const sent = shellWord(text)
  return sent === null
    ? `${shellInput(text)} | curl -X POST -H ${header} --data-binary @- ${address}`
    : `curl -X POST -H ${header} --data-raw ${sent} ${address}`
}
