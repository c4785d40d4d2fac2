/** The flags of a source's settings; each given flag becomes part of the new or changed source. */
import { SOURCE_ENCODINGS } from "@data-cabinet/core/source/Source"
import { MAX_SOURCE_RATE, type SourceChange } from "@data-cabinet/core/source/Sources"
import { PROVIDER_NAMES, type ProviderName } from "@data-cabinet/core/verification/Providers"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { challengeFlags, type ChallengeFlags, readChallenge } from "./ChallengeFlags.ts"
import { readVerification, type VerifyFlags, verifyFlags } from "./VerifyFlags.ts"

const encoding = Flag.Literals("encoding", [...SOURCE_ENCODINGS, "none"]).pipe(
  Flag.withDescription("Decode forms in this charset, whatever they declare; none to detect it for each submission"),
  Flag.optional,
)

const thanksUrl = Flag.String("thanks-url").pipe(
  Flag.withMetavar("URL"),
  Flag.withDescription("Page that the browser is redirected to after a plain HTML form; none for the built-in page"),
  Flag.optional,
)

/** May be given several times, each with several names. */
const headers = (flag: string, about: string) =>
  Flag.String(flag).pipe(Flag.withMetavar("NAME,…"), Flag.withDescription(about), Flag.between(0, 1000))

export const sourceFlags = {
  from: Flag.Literals("from", PROVIDER_NAMES).pipe(
    Flag.withDescription(
      "A well-known sender: keeps the headers that its events need; with --verify-secret-file also verifies its signatures",
    ),
    Flag.optional,
  ),
  encoding,
  thanksUrl,
  keepHeaders: headers(
    "keep-headers",
    "Additional headers to keep with the original request: names, or prefixes such as X-GitHub-*; none to keep only the usual ones",
  ),
  headerFields: headers("header-fields", "Headers that become fields of the event; none to remove them all"),
  keepQuery: Flag.Literals("keep-query", ["on", "off"]).pipe(
    Flag.withDescription("Keep the URL's query string as sent with the original request"),
    Flag.optional,
  ),
  nestBrackets: Flag.Literals("nest-brackets", ["on", "off"]).pipe(
    Flag.withDescription(
      "Nest the fields of forms by the brackets in their names: leads[add][0][name] becomes a member of the column leads",
    ),
    Flag.optional,
  ),
  honeypot: Flag.String("honeypot").pipe(
    Flag.withMetavar("FIELD"),
    Flag.withDescription(
      "Hidden form field that people leave empty: an event that fills it is spam; none to stop checking",
    ),
    Flag.optional,
  ),
  allowOrigins: Flag.String("allow-origin").pipe(
    Flag.withMetavar("ORIGIN,…"),
    Flag.withDescription(
      "Origins of the pages with the form, such as https://www.example.com: submissions from other origins count as spam; none to allow any. Not a security control",
    ),
    Flag.between(0, 1000),
  ),
  ...verifyFlags,
  rate: Flag.String("rate").pipe(
    Flag.withMetavar("N"),
    Flag.withDescription("Maximum requests a minute, from all clients together; none for the server's limits"),
    Flag.filterMap(
      (text) => {
        if (text === "none") return Option.some(null)
        const value = /^[1-9]\d{0,6}$/.test(text) ? Number(text) : 0
        return value >= 1 && value <= MAX_SOURCE_RATE ? Option.some(value) : Option.none()
      },
      (text) => `--rate is ${JSON.stringify(text)}: it must be a whole number from 1 to ${MAX_SOURCE_RATE}, or none`,
    ),
    Flag.optional,
  ),
  ...challengeFlags,
}

interface SourceFlags extends VerifyFlags, ChallengeFlags {
  readonly from: Option.Option<ProviderName>
  readonly encoding: Option.Option<(typeof SOURCE_ENCODINGS)[number] | "none">
  readonly thanksUrl: Option.Option<string>
  readonly keepHeaders: ReadonlyArray<string>
  readonly headerFields: ReadonlyArray<string>
  readonly keepQuery: Option.Option<"on" | "off">
  readonly nestBrackets: Option.Option<"on" | "off">
  readonly rate: Option.Option<number | null>
  readonly honeypot: Option.Option<string>
  readonly allowOrigins: ReadonlyArray<string>
}

const orNone = <A extends string>(
  value: Option.Option<A | "none">,
): { readonly set: Exclude<A, "none"> | null } | undefined =>
  Option.isNone(value) ? undefined : { set: value.value === "none" ? null : (value.value as Exclude<A, "none">) }

/** Undefined if the flag was not given. */
const namesOf = (given: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
  if (given.length === 0) return undefined
  const names = given.flatMap((some) => some.split(",")).map((name) => name.trim())
  return names.length === 1 && names[0] === "none" ? [] : names
}

/** Reads a secret from where the flags say, before anything is opened. */
export const readSettings = (input: SourceFlags) =>
  Effect.gen(function* () {
    const verify = yield* readVerification(input)
    const challenge = yield* readChallenge(input)
    const settings: Omit<SourceChange, "name"> = {
      ...settingsOf(input),
      ...(verify === undefined ? {} : { verify }),
      ...(challenge === undefined ? {} : { challenge }),
    }
    return settings
  })

const settingsOf = (input: SourceFlags): Omit<SourceChange, "name" | "verify" | "challenge"> => {
  const charset = orNone(input.encoding)
  const thanks = orNone(input.thanksUrl)
  const keepHeaders = namesOf(input.keepHeaders)
  const headerFields = namesOf(input.headerFields)
  const honeypot = orNone(input.honeypot)
  const allowOrigins = namesOf(input.allowOrigins)
  const keepQuery = Option.getOrUndefined(input.keepQuery)
  const nestBrackets = Option.getOrUndefined(input.nestBrackets)
  return {
    ...(Option.isNone(input.from) ? {} : { from: input.from.value }),
    ...(charset === undefined ? {} : { encoding: charset.set }),
    ...(thanks === undefined ? {} : { thanksUrl: thanks.set }),
    ...(keepHeaders === undefined ? {} : { keepHeaders }),
    ...(headerFields === undefined ? {} : { headerFields }),
    ...(keepQuery === undefined ? {} : { keepQuery: keepQuery === "on" }),
    ...(nestBrackets === undefined ? {} : { nestBrackets: nestBrackets === "on" }),
    ...(honeypot === undefined ? {} : { honeypot: honeypot.set }),
    ...(allowOrigins === undefined ? {} : { allowOrigins }),
    ...(Option.isNone(input.rate) ? {} : { rate: input.rate.value }),
  }
}
