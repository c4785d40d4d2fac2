/** A request as a shell command, with the token as `$CABINET_TOKEN`; it contains no other secret of ours. */
import { shellWord } from "@data-cabinet/core/text/ShellWord"

/** JSON has no control characters, and a form's values are one line. */
const quoted = (text: string): string => shellWord(text) ?? "''"

export interface ShownRequest {
  readonly method: string
  readonly url: string
  /** A JSON text. */
  readonly json?: string
  /** A file with the fields of its form. */
  readonly form?: { readonly file: string; readonly fields: ReadonlyArray<readonly [name: string, value: string]> }
}

export const curlLine = ({ method, url, json, form }: ShownRequest): string => {
  // curl sends a POST by default if the request has a body.
  const implied = json !== undefined || form !== undefined ? "POST" : "GET"
  return [
    "curl",
    ...(method === implied ? [] : ["-X", method]),
    '-H "Authorization: Bearer $CABINET_TOKEN"',
    ...(json === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoted(json)}`]),
    ...(form?.fields ?? []).map(([name, value]) => `-F ${quoted(`${name}=${value}`)}`),
    ...(form === undefined ? [] : [`-F ${quoted(`file=@${form.file}`)}`]),
    quoted(url),
  ].join(" ")
}
