/** The options of a server with many cabinets, which apply to all of them. */
import { Effect, Result } from "effect"
import { domain } from "../settings/SettingForm.ts"
import { StartError } from "../error/StartError.ts"
import { type OpenCabinetOptions, settingsFrom } from "./CabinetOptions.ts"

/** Options that only a single cabinet can have. */
type OfOne = "readerUrl" | "authorUrl" | "readUrl" | "readLagMillis" | "maxConnections" | "maxReaderConnections"

/** How to open the cabinets of a server with many: the options of one cabinet, except those that differ for each. */
export interface OpenCabinetsOptions extends Omit<OpenCabinetOptions, OfOne | "baseUrl"> {
  /** The domain below which each cabinet is served at its name. */
  readonly serviceDomain: string
  /** The public scheme and port of the cabinets. Default: `https://` and its standard port. */
  readonly baseUrl?: string | undefined
}

const OF_ONE: ReadonlyArray<OfOne> = [
  "readerUrl",
  "authorUrl",
  "readUrl",
  "readLagMillis",
  "maxConnections",
  "maxReaderConnections",
]

const refuse = (message: string) => Effect.fail(new StartError({ code: "bad_setting", message }))

/** The settings that all cabinets of the server share. */
export const manySettingsFrom = Effect.fnUntraced(function* ({ serviceDomain, ...options }: OpenCabinetsOptions) {
  const foreign = OF_ONE.find((name) => Object.hasOwn(options, name))
  if (foreign !== undefined)
    return yield* refuse(`openCabinets has no option ${foreign}: it applies to a single cabinet only.`)
  // A JavaScript program may have omitted it.
  const given: string | undefined = serviceDomain
  const read = domain(given ?? "")
  if (Result.isFailure(read)) {
    return yield* refuse(`serviceDomain is ${JSON.stringify(serviceDomain)}: it must be ${read.failure}.`)
  }
  return { ...(yield* settingsFrom(options, "openCabinets")), serviceDomain: read.success }
})
