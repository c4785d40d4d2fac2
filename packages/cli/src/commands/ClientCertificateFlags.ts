/**
 * `--client-certificate-file` and `--client-key-file`: the client certificate for an address that requires one. The key
 * is never shown.
 */
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { CommandError } from "../error/CommandError.ts"
import { readInput, secretFile } from "./SecretInput.ts"
import type { SendingSettings } from "@data-cabinet/core/delivery/NewAddress"

export const certificateFlags = {
  clientCertificateFile: secretFile(
    "client-certificate-file",
    "File with the certificate that identifies us to the receiver (mutual TLS), in PEM, followed by its chain; needs --client-key-file",
  ),
  clientKeyFile: secretFile(
    "client-key-file",
    "File with the private key of that certificate, in PEM, without a passphrase; - for standard input. Never shown",
  ),
}

export const removeCertificate = Flag.Boolean("remove-client-certificate").pipe(
  Flag.withoutNegation,
  Flag.withDescription("Send without a client certificate"),
  Flag.withDefault(false),
)

interface CertificateInput {
  readonly clientCertificateFile: Option.Option<string>
  readonly clientKeyFile: Option.Option<string>
  readonly removeCertificate?: boolean
}

const usage = (message: string) => new CommandError({ code: "usage", message })

/** The files of a call; nothing without the flags. */
export const readCertificate = (input: CertificateInput) =>
  Effect.gen(function* () {
    const { clientCertificateFile: certificateFile, clientKeyFile: keyFile } = input
    const isGiven = Option.isSome(certificateFile) || Option.isSome(keyFile)
    if (input.removeCertificate === true) {
      if (isGiven)
        return yield* usage("Either a client certificate is given, or --remove-client-certificate, not both.")
      const removed: Pick<SendingSettings, "clientIdentity"> = { clientIdentity: null }
      return removed
    }
    if (!isGiven) return {}
    if (Option.isNone(certificateFile) || Option.isNone(keyFile)) {
      return yield* usage("A client certificate needs both --client-certificate-file and --client-key-file.")
    }
    const certificate = yield* readInput(certificateFile.value, `--client-certificate-file ${certificateFile.value}`)
    const key = yield* readInput(keyFile.value, `--client-key-file ${keyFile.value}`)
    const given: Pick<SendingSettings, "clientIdentity"> = { clientIdentity: { certificate, key } }
    return given
  })
