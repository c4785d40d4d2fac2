/** The flags of a source's settings; each given flag becomes part of the new or changed source. */
import type { AnySetting } from "@data-cabinet/core/source/Setting"
import { ALL_SETTINGS, type NamedSetting, type SourceSettings } from "@data-cabinet/core/source/SourceSettings"
import type { SourceChange } from "@data-cabinet/core/source/Sources"
import { PROVIDER_NAMES, type ProviderName } from "@data-cabinet/core/source/Providers"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { challengeFlags, type ChallengeFlags, readChallenge } from "./ChallengeFlags.ts"
import { readVerification, type VerifyFlags, verifyFlags } from "./VerifyFlags.ts"

const NONE = "none"

const orNull = (text: string): string | null => (text === NONE ? null : text)

/** The names of all occurrences of a flag; `none` alone for an empty list. */
const namesOf = (given: ReadonlyArray<string>): ReadonlyArray<string> => {
  const names = given.flatMap((some) => some.split(",")).map((name) => name.trim())
  return names.length === 1 && names[0] === NONE ? [] : names
}

const wholeOf = (text: string, { least, most }: { readonly least: number; readonly most: number }) => {
  if (text === NONE) return Option.some(null)
  const value = /^[1-9]\d{0,14}$/.test(text) ? Number(text) : Number.NaN
  return value >= least && value <= most ? Option.some(value) : Option.none()
}

/** The value of its flag; none if the flag was not given. */
const flagOf = (
  name: string,
  { input, flag: { metavar = "TEXT", about } }: AnySetting,
): Flag.Flag<Option.Option<unknown>> => {
  const text = Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(about))
  switch (input.kind) {
    case "choice":
      return Flag.Literals(name, [...input.values, NONE]).pipe(
        Flag.withDescription(about),
        Flag.map(orNull),
        Flag.optional,
      )
    case "flag":
      return Flag.Literals(name, ["on", "off"]).pipe(
        Flag.withDescription(about),
        Flag.map((value) => value === "on"),
        Flag.optional,
      )
    case "text":
      return text.pipe(Flag.map(orNull), Flag.optional)
    case "names":
      // May be given several times, each with several names.
      return text.pipe(
        Flag.between(0, 1000),
        Flag.map((given) => (given.length === 0 ? Option.none() : Option.some(namesOf(given)))),
      )
    case "whole":
      return text.pipe(
        Flag.filterMap(
          (value) => wholeOf(value, input),
          (value) =>
            `--${name} is ${JSON.stringify(value)}: it must be a whole number from ${input.least} to ${input.most}, or none`,
        ),
        Flag.optional,
      )
  }
}

type SettingValues = { readonly [K in keyof SourceSettings]: Option.Option<SourceSettings[K]> }

const settingFlags = Object.fromEntries(
  ALL_SETTINGS.map(({ key, name, setting }) => [key, flagOf(setting.flag.name ?? name.replaceAll("_", "-"), setting)]),
) as unknown as { readonly [K in keyof SettingValues]: Flag.Flag<SettingValues[K]> }

export const sourceFlags = {
  from: Flag.Literals("from", PROVIDER_NAMES).pipe(
    Flag.withDescription(
      "A well-known sender: keeps the headers that its events need; with --verify-secret-file also verifies its signatures",
    ),
    Flag.optional,
  ),
  ...settingFlags,
  ...verifyFlags,
  ...challengeFlags,
}

interface SourceFlags extends SettingValues, VerifyFlags, ChallengeFlags {
  readonly from: Option.Option<ProviderName>
}

/** Reads a secret from where the flags say, before anything else is opened. */
export const readSettings = (input: SourceFlags) =>
  Effect.gen(function* () {
    const verify = yield* readVerification(input)
    const challenge = yield* readChallenge(input)
    const settings: Omit<SourceChange, "name"> = {
      ...(Option.isNone(input.from) ? {} : { from: input.from.value }),
      ...settingsOf(input),
      ...(verify === undefined ? {} : { verify }),
      ...(challenge === undefined ? {} : { challenge }),
    }
    return settings
  })

const settingsOf = (input: SettingValues): Partial<SourceSettings> =>
  Object.fromEntries(
    ALL_SETTINGS.flatMap(({ key }) => {
      const value: Option.Option<unknown> = input[key]
      return Option.isNone(value) ? [] : [[key, value.value]]
    }),
  )

/** The setting's line of a source's card; empty if there is nothing to show. */
export const settingLine = (
  source: SourceSettings,
  { key, setting: { shown } }: NamedSetting,
): ReadonlyArray<readonly [label: string, text: string]> => {
  const value = source[key]
  if (value === null || value === false || (Array.isArray(value) && value.length === 0)) {
    return shown.none === undefined ? [] : [[shown.label, shown.none]]
  }
  const { as } = shown
  return [
    [shown.label, as === undefined ? (Array.isArray(value) ? value.join(", ") : String(value)) : as(value as never)],
  ]
}
