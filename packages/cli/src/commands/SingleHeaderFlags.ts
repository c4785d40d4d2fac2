/** `--set-headers-file` and `--remove-header`: changes of single headers of an address; its others stay. */
import type { HeaderChange } from "@data-cabinet/core/delivery/HeaderChange"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { CommandError } from "../error/CommandError.ts"
import { readHeaders } from "./HeadersFile.ts"
import { secretFile } from "./SecretInput.ts"

export const singleHeaderFlags = {
  setHeadersFile: secretFile(
    "set-headers-file",
    "File with headers that are added, or sent instead of those with the same names, one 'Name: value' per line; - for standard input. The other headers stay",
  ),
  removeHeader: Flag.String("remove-header").pipe(
    Flag.withMetavar("NAME"),
    Flag.withDescription("Stop sending this header; repeatable. The other headers stay"),
    Flag.between(0, 50),
  ),
}

interface HeaderInput {
  readonly setHeadersFile: Option.Option<string>
  readonly removeHeader: ReadonlyArray<string>
  readonly headersFile: Option.Option<string>
}

/** Reads the headers, before anything is opened: a person may be typing them. */
export const readHeaderChange = (input: HeaderInput) =>
  Effect.gen(function* () {
    const { setHeadersFile, removeHeader } = input
    const isGiven = Option.isSome(setHeadersFile) || removeHeader.length > 0
    if (isGiven && Option.isSome(input.headersFile)) {
      const message =
        "Either --headers-file for all headers, or --set-headers-file and --remove-header for single ones."
      return yield* new CommandError({ code: "usage", message })
    }
    const change: HeaderChange = {
      ...(Option.isSome(setHeadersFile)
        ? { setHeaders: yield* readHeaders(setHeadersFile, "--set-headers-file") }
        : {}),
      ...(removeHeader.length > 0 ? { removeHeaders: removeHeader } : {}),
    }
    return change
  })
