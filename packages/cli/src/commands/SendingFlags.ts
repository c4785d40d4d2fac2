/**
 * How deliveries are sent to an address: `--headers-file`, `--client-certificate-file` with `--client-key-file`,
 * `--rate`, `--timeout`, `--give-up-after`, `--pause-on-gone`, `--order`, `--batch` with `--batch-wait`, and `--body`. Each
 * given flag sets or changes its setting.
 */
import type { DeliveryOrder } from "@data-cabinet/core/delivery/Address"
import { MAX_BATCH, MAX_BATCH_WAIT_SECONDS } from "@data-cabinet/core/delivery/AddressSettings"
import { SENDING_SETTINGS, type SendingValues } from "@data-cabinet/core/delivery/SendingSettings"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { CommandError } from "../error/CommandError.ts"
import { bodyFlags, type BodyInput, readBody } from "./BodyFlags.ts"
import { certificateFlags, readCertificate } from "./ClientCertificateFlags.ts"
import { headersFile, readHeaders } from "./HeadersFile.ts"
import { declaredFlags, givenSettings, type SettingInput } from "./SettingFlags.ts"
import type { SendingSettings } from "@data-cabinet/core/delivery/NewAddress"

const rangeFlag = (name: string, metavar: string, min: number, max: number, description: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar(metavar),
    Flag.withDescription(description),
    Flag.filterMap(
      (text) => {
        const value = /^\d{1,3}$/.test(text) ? Number(text) : -1
        return value >= min && value <= max ? Option.some(value) : Option.none()
      },
      (text) => `--${name} is ${JSON.stringify(text)}: it must be a whole number from ${min} to ${max}`,
    ),
    Flag.optional,
  )

export const sendingFlags = {
  headersFile,
  ...bodyFlags,
  ...certificateFlags,
  ...declaredFlags(SENDING_SETTINGS),
  order: Flag.Literals("order", ["none", "feed"]).pipe(
    Flag.withDescription(
      "feed: send events in the order of the feed, each after the response to the previous one; default: none",
    ),
    Flag.optional,
  ),
  batch: rangeFlag("batch", "N", 1, MAX_BATCH, "With --order feed: maximum events per request; default: 1"),
  batchWait: rangeFlag(
    "batch-wait",
    "SECONDS",
    0,
    MAX_BATCH_WAIT_SECONDS,
    "With --batch: how long its first event waits for more; default: 0",
  ),
}

interface SendingInput extends BodyInput, SettingInput<SendingValues> {
  readonly headersFile: Option.Option<string>
  readonly setHeadersFile?: Option.Option<string>
  readonly clientCertificateFile: Option.Option<string>
  readonly clientKeyFile: Option.Option<string>
  readonly removeCertificate?: boolean
  readonly order: Option.Option<DeliveryOrder>
  readonly batch: Option.Option<number>
  readonly batchWait: Option.Option<number>
  readonly urlFile: Option.Option<string>
}

/** Whether standard input would have to supply more than one of these; a terminal prompts for each header. */
const isShared = ({
  urlFile,
  headersFile: headers,
  setHeadersFile = Option.none(),
  ...input
}: SendingInput): boolean => {
  const certificate = [input.clientCertificateFile, input.clientKeyFile]
  const secretFiles = [urlFile, headers, setHeadersFile, input.bodyFile]
  const piped = [...certificate, ...secretFiles].filter((file) => Option.contains(file, "-")).length
  return piped > 1 && (!process.stdin.isTTY || certificate.some((file) => Option.contains(file, "-")))
}

/** Reads the headers and the certificate, before anything is opened: a person may be typing them. */
export const readSending = (input: SendingInput) =>
  Effect.gen(function* () {
    if (isShared(input)) {
      const message =
        "Standard input can supply one of the URL, the headers, the body, the certificate and the key: use files for the others."
      return yield* new CommandError({ code: "usage", message })
    }
    if (Option.isSome(input.batchWait) && Option.isNone(input.batch)) {
      return yield* new CommandError({ code: "usage", message: "--batch-wait needs --batch." })
    }
    const headers = Option.isSome(input.headersFile) ? yield* readHeaders(input.headersFile) : undefined
    const body = yield* readBody(input)
    const settings: SendingSettings = {
      ...(body === undefined ? {} : { body }),
      ...(headers === undefined ? {} : { headers }),
      ...(yield* readCertificate(input)),
      ...givenSettings(SENDING_SETTINGS, input),
      ...(Option.isNone(input.order) ? {} : { order: input.order.value }),
      ...(Option.isNone(input.batch)
        ? {}
        : { batch: { max: input.batch.value, wait: Option.getOrElse(input.batchWait, () => 0) } }),
    }
    return settings
  })
