/** `--headers-file FILE` and its like: HTTP headers as lines `Name: value`. They are secret, and no message shows a value. */
import { Effect, Option } from "effect"
import { CommandError } from "../error/CommandError.ts"
import { askHidden, readInput, secretFile } from "./SecretInput.ts"

export type Headers = ReadonlyArray<readonly [name: string, value: string]>

export const headersFile = secretFile(
  "headers-file",
  "File with additional request headers, one 'Name: value' per line; - for standard input. Values are never shown",
)

/** Blank lines are skipped; every other line is a header. */
export const parseHeaders = (text: string, flag = "--headers-file"): Effect.Effect<Headers, CommandError> =>
  Effect.gen(function* () {
    const headers: Array<readonly [string, string]> = []
    for (const [at, line] of text
      .replace(/^\uFEFF/, "")
      .split(/\r?\n/)
      .entries()) {
      if (line.trim() === "") continue
      const colon = line.indexOf(":")
      const name = line.slice(0, Math.max(0, colon)).trim()
      if (name === "") {
        const message = `${flag}: line ${at + 1} does not have the form 'Name: value'.`
        return yield* new CommandError({ code: "usage", message })
      }
      headers.push([name, line.slice(colon + 1).trim()])
    }
    return headers
  })

/** On a terminal `-` prompts for one header after another, until an empty line is entered. */
const prompted = Effect.gen(function* () {
  const lines: Array<string> = []
  for (;;) {
    const line = yield* askHidden("Header as 'Name: value' (leave empty to finish)")
    if (line.trim() === "") return lines.join("\n")
    lines.push(line)
  }
})

/** The headers of a call; none without the flag. */
export const readHeaders = (file: Option.Option<string>, flag = "--headers-file") =>
  Effect.gen(function* () {
    if (Option.isNone(file)) return []
    const terminal = file.value === "-" && process.stdin.isTTY
    return yield* parseHeaders(terminal ? yield* prompted : yield* readInput(file.value, `${flag} ${file.value}`), flag)
  })
