/**
 * The flags of declared settings: each given flag becomes part of the new or changed object. A value with parts has a flag for each
 * part; the flag of a document names its file.
 */
import type {
  AnyNamed,
  AnySetting,
  AnySettings,
  GivenSettings,
  NamedSetting,
  Settings,
} from "@data-cabinet/core/json/Setting"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { CommandError } from "../error/CommandError.ts"
import { readInput } from "./SecretInput.ts"

const NONE = "none"

const flagName = ({ name, setting }: AnyNamed): string => setting.flag?.name ?? name.replaceAll("_", "-")

const isDocument = ({ input }: AnySetting): boolean => input.kind === "text" && input.is === "document"

/** The names of all occurrences of a flag; `none` alone for an empty list. */
const namesOf = (given: ReadonlyArray<string>): ReadonlyArray<string> => {
  const names = given.flatMap((some) => some.split(",")).map((name) => name.trim())
  return names.length === 1 && names[0] === NONE ? [] : names
}

const wholeOf = (text: string, { least, most }: { readonly least: number; readonly most: number }) => {
  const value = /^(0|[1-9]\d{0,14})$/.test(text) ? Number(text) : Number.NaN
  return value >= least && value <= most ? Option.some(value) : Option.none()
}

/** The value of its flag; none if the flag was not given. */
const flagOf = (named: AnyNamed): Flag.Flag<Option.Option<unknown>> => {
  const { input, default: initial, flag } = named.setting
  if (input.kind === "parts") return flagsOf(input.of) as never
  const { metavar = "TEXT", about, none = NONE } = flag!
  const name = flagName(named)
  const isNull = (text: string) => initial === null && text === none
  const orNull = (text: string): string | null => (isNull(text) ? null : text)
  const text = Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(about))
  const parsed = (parse: (value: string) => Option.Option<number>, must: string) =>
    text.pipe(
      Flag.filterMap(
        (value) => (isNull(value) ? Option.some(null) : parse(value)),
        (value) => `--${name} is ${JSON.stringify(value)}: it must be ${must}${initial === null ? `, or ${none}` : ""}`,
      ),
      Flag.optional,
    )
  switch (input.kind) {
    case "choice":
      return Flag.Literals(name, initial === null ? [...input.values, none] : input.values).pipe(
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
      return isDocument(named.setting) ? Flag.optional(text) : text.pipe(Flag.map(orNull), Flag.optional)
    case "names":
      // May be given several times, each with several names.
      return text.pipe(
        Flag.between(0, 1000),
        Flag.map((given) => (given.length === 0 ? Option.none() : Option.some(namesOf(given)))),
      )
    case "whole":
      return parsed((value) => wholeOf(value, input), `a whole number from ${input.least} to ${input.most}`)
    case "duration":
      return parsed((value) => Option.fromNullishOr(input.parse(value)), input.must)
  }
}

const flagsOf = ({ all }: AnySettings) => Object.fromEntries(all.map((named) => [named.key, flagOf(named)]))

type HasParts<A> = [NonNullable<A>] extends [ReadonlyArray<unknown>]
  ? false
  : [NonNullable<A>] extends [object]
    ? true
    : false

/** The values of the flags of a call; those of a value with parts are nested. */
export type SettingInput<S> = {
  readonly [K in keyof S]: HasParts<S[K]> extends true ? SettingInput<NonNullable<S[K]>> : Option.Option<S[K]>
}

type SettingFlags<S> = {
  readonly [K in keyof S]: HasParts<S[K]> extends true
    ? SettingFlags<NonNullable<S[K]>>
    : Flag.Flag<Option.Option<S[K]>>
}

/** A flag for each setting. */
export const declaredFlags = <S extends object, D>(settings: Settings<S, D>): SettingFlags<S> =>
  flagsOf(settings) as never

type Given = { readonly [key: string]: Option.Option<unknown> }

/** The files that the flags of documents name. */
export const documentFiles = ({ all }: AnySettings, input: object): ReadonlyArray<string> =>
  all.flatMap(({ key, setting }) => {
    const given = (input as Given)[key]!
    if (setting.input.kind === "parts") return documentFiles(setting.input.of, given)
    return isDocument(setting) && Option.isSome(given) ? [given.value as string] : []
  })
/** The settings whose flags were given, of those with a single value. */
export const givenSettings = <S, D>({ all }: Settings<S, D>, input: SettingInput<S>): Partial<S> =>
  Object.fromEntries(
    all.flatMap(({ key, setting }) => {
      const value = (input as Given)[key]!
      return setting.input.kind === "parts" || Option.isNone(value) ? [] : [[key, value.value]]
    }),
  ) as Partial<S>

const flagNames = ({ all }: AnySettings, keys: ReadonlyArray<string>) =>
  all.filter(({ key }) => keys.includes(key)).map((part) => `--${flagName(part)}`)

const readDocument = (part: AnyNamed, file: string) =>
  Effect.map(readInput(file, `--${flagName(part)} ${file}`), (text) => text.replace(/^\uFEFF/, ""))

/** The value of a setting with parts; undefined without their flags. */
const readParts = Effect.fnUntraced(function* ({ input }: AnySetting, flags: Given) {
  if (input.kind !== "parts") return undefined
  const { of, required, needed, implied } = input
  const given = of.all.filter(({ key }) => Option.isSome(flags[key]!))
  if (given.length === 0) return undefined
  const keys = given.map(({ key }) => key)
  const isImplied = implied !== undefined && keys.includes(implied.by)
  const lacking = needed.filter((key) => !keys.includes(key) && !(isImplied && key === implied.member))
  if (lacking.length > 0) {
    const alternatives = implied === undefined ? lacking : [...lacking, implied.by]
    const message = `${flagNames(of, keys).join(" and ")} ${keys.length === 1 ? "needs" : "need"} ${flagNames(of, alternatives).join(" or ")}.`
    return yield* new CommandError({ code: "usage", message })
  }
  const value: Record<string, unknown> = isImplied ? { [implied.member]: implied.value } : {}
  for (const part of given) {
    const one = Option.getOrThrow(flags[part.key]!)
    value[part.key] = isDocument(part.setting) ? yield* readDocument(part, String(one)) : one
  }
  const defaults = Object.entries(of.defaults).filter(([key]) => required.includes(key))
  return { ...Object.fromEntries(defaults), ...value }
})

/** All settings whose flags were given; reads the files of documents. */
export const readSettings = Effect.fnUntraced(function* <S, D>(settings: Settings<S, D>, input: SettingInput<S>) {
  const read: Record<string, unknown> = givenSettings(settings, input)
  for (const named of settings.all as ReadonlyArray<AnyNamed>) {
    const { key, setting } = named
    const given = read[key]
    if (isDocument(setting) && typeof given === "string") {
      read[key] = given === NONE && setting.default === null ? null : yield* readDocument(named, given)
    }
    const value = setting.input.kind === "parts" ? yield* readParts(setting, (input as never)[key]) : undefined
    if (value !== undefined) read[key] = value
  }
  return read as GivenSettings<S>
})

const settingLine = <S>(
  settings: S,
  { key, setting: { shown } }: NamedSetting<S>,
): ReadonlyArray<readonly [label: string, text: string]> => {
  const value: unknown = settings[key]
  if (shown === undefined) return []
  if (value === null || value === false || (Array.isArray(value) && value.length === 0)) {
    return shown.none === undefined ? [] : [[shown.label, shown.none]]
  }
  const plain = Array.isArray(value) ? value.join(", ") : String(value)
  const text = shown.as === undefined ? plain : shown.as(value as never)
  return text === null ? [] : [[shown.label, text]]
}

/** The settings' lines of a card. */
export const settingLines = <S, D>({ all }: Settings<S, D>, settings: S) =>
  all.flatMap((named) => settingLine(settings, named))
