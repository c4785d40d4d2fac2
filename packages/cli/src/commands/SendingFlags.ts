/**
 * How deliveries are sent to an address: `--headers-file`, and the flags of its declared settings. Each given flag sets or changes
 * its setting.
 */
import { SECRET_SETTINGS, type SecretSettings } from "@data-cabinet/core/delivery/ClientIdentity"
import { SENDING_SETTINGS, type ShownSettings } from "@data-cabinet/core/delivery/SendingSettings"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { CommandError } from "../error/CommandError.ts"
import { headersFile, readHeaders } from "./HeadersFile.ts"
import { declaredFlags, documentFiles, readSettings, type SettingInput } from "./SettingFlags.ts"
import type { SendingSettings } from "@data-cabinet/core/delivery/NewAddress"

export const sendingFlags = { headersFile, ...declaredFlags(SECRET_SETTINGS), ...declaredFlags(SENDING_SETTINGS) }

export const removeCertificate = Flag.Boolean("remove-client-certificate").pipe(
  Flag.withoutNegation,
  Flag.withDescription("Send without a client certificate"),
  Flag.withDefault(false),
)

interface SendingInput extends SettingInput<ShownSettings>, SettingInput<SecretSettings> {
  readonly headersFile: Option.Option<string>
  readonly setHeadersFile?: Option.Option<string>
  readonly removeCertificate?: boolean
  readonly urlFile: Option.Option<string>
}

/** Whether standard input would have to supply more than one of these; a terminal prompts for each header. */
const isShared = ({
  urlFile,
  headersFile: headers,
  setHeadersFile = Option.none(),
  ...input
}: SendingInput): boolean => {
  const secretFiles = [urlFile, headers, setHeadersFile].filter((file) => Option.contains(file, "-"))
  const certificate = documentFiles(SECRET_SETTINGS, input).filter((file) => file === "-")
  const body = documentFiles(SENDING_SETTINGS, input).filter((file) => file === "-")
  const piped = secretFiles.length + certificate.length + body.length
  return piped > 1 && (!process.stdin.isTTY || certificate.length > 0)
}

const usage = (message: string) => new CommandError({ code: "usage", message })

/** Reads the headers and the documents, before anything is opened: a person may be typing them. */
export const readSending = Effect.fnUntraced(function* (input: SendingInput) {
  if (isShared(input)) {
    return yield* usage(
      "Standard input can supply one of the URL, the headers, the body, the certificate and the key: use files for the others.",
    )
  }
  if (input.removeCertificate === true && documentFiles(SECRET_SETTINGS, input).length > 0) {
    return yield* usage("Pass either a client certificate or --remove-client-certificate, not both.")
  }
  return {
    ...(Option.isNone(input.headersFile) ? {} : { headers: yield* readHeaders(input.headersFile) }),
    ...(input.removeCertificate === true ? { clientIdentity: null } : yield* readSettings(SECRET_SETTINGS, input)),
    ...(yield* readSettings(SENDING_SETTINGS, input)),
  } as SendingSettings
})
