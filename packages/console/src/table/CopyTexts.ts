/** A selection as others ask for it: its address in the API, a call by curl, and the command. */
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { withQuery } from "./SelectionLinks.ts"

/** A word of a shell's command line. */
const quoted = (text: string): string => (/^[\w./:=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

export const apiAddress = (baseUrl: string, schema: string, name: string, pairs: Pairs): string =>
  withQuery(`${baseUrl}/api/v1/tables/${encodeURIComponent(schema)}/${encodeURIComponent(name)}/rows`, pairs)

export const curlCall = (address: string): string => `curl -H "X-API-Key: $CABINET_KEY" ${quoted(address)}`

/** With the contract's own parameters, so that nothing is lost in the translation. */
export const commandLine = (schema: string, name: string, pairs: Pairs): string =>
  ["cabinet rows", quoted(`${schema}.${name}`), ...pairs.map(([key, value]) => `--${key} ${quoted(value)}`)].join(" ")
