/** The flags of a source's settings, of which each that is given becomes a part of what is created or changed. */
import { SOURCE_ENCODINGS } from "@data-cabinet/core/source/Source"
import { MAX_SOURCE_RATE, type SourceChange } from "@data-cabinet/core/source/Sources"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { challengeFlags, type ChallengeFlags, readChallenge } from "./ChallengeFlags.ts"
import { readVerification, type VerifyFlags, verifyFlags } from "./VerifyFlags.ts"

const encoding = Flag.Literals("encoding", [...SOURCE_ENCODINGS, "none"]).pipe(
  Flag.withDescription("Decode forms with this charset, whatever they declare; none to detect it per submission"),
  Flag.optional,
)

const thanksUrl = Flag.String("thanks-url").pipe(
  Flag.withMetavar("URL"),
  Flag.withDescription("Page to redirect to after a plain HTML form; none for the default page"),
  Flag.optional,
)

/** May be given several times, each with several names. */
const headers = (flag: string, about: string) =>
  Flag.String(flag).pipe(Flag.withMetavar("NAME,…"), Flag.withDescription(about), Flag.between(0, 1000))

export const sourceFlags = {
  encoding,
  thanksUrl,
  keepHeaders: headers(
    "keep-headers",
    "Headers to keep with the original request: names, or prefixes such as X-GitHub-*; none for only those that every source keeps",
  ),
  headerFields: headers("header-fields", "Headers that also become fields of the event; none for no headers"),
  keepQuery: Flag.Literals("keep-query", ["on", "off"]).pipe(
    Flag.withDescription("Keep the URL's query string as sent with the original request"),
    Flag.optional,
  ),
  honeypot: Flag.String("honeypot").pipe(
    Flag.withMetavar("FIELD"),
    Flag.withDescription("A field of its form that people leave empty; filled, the event is spam; none for no field"),
    Flag.optional,
  ),
  allowOrigins: Flag.String("allow-origin").pipe(
    Flag.withMetavar("ORIGIN,…"),
    Flag.withDescription(
      "Origins of the pages with its form, such as https://www.example.com; from others it is spam; none for any. No authentication",
    ),
    Flag.between(0, 1000),
  ),
  ...verifyFlags,
  rate: Flag.String("rate").pipe(
    Flag.withMetavar("N"),
    Flag.withDescription("Requests a minute that it takes, whoever sends them; none for the common limits"),
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
  readonly encoding: Option.Option<(typeof SOURCE_ENCODINGS)[number] | "none">
  readonly thanksUrl: Option.Option<string>
  readonly keepHeaders: ReadonlyArray<string>
  readonly headerFields: ReadonlyArray<string>
  readonly keepQuery: Option.Option<"on" | "off">
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
  return {
    ...(charset === undefined ? {} : { encoding: charset.set }),
    ...(thanks === undefined ? {} : { thanksUrl: thanks.set }),
    ...(keepHeaders === undefined ? {} : { keepHeaders }),
    ...(headerFields === undefined ? {} : { headerFields }),
    ...(keepQuery === undefined ? {} : { keepQuery: keepQuery === "on" }),
    ...(honeypot === undefined ? {} : { honeypot: honeypot.set }),
    ...(allowOrigins === undefined ? {} : { allowOrigins }),
    ...(Option.isNone(input.rate) ? {} : { rate: input.rate.value }),
  }
}
