/** The flags of declared settings: each given flag becomes part of the new or changed object. */
import type { AnySetting, NamedSetting, Settings } from "@data-cabinet/core/json/Setting"
import { Option } from "effect"
import { Flag } from "effect/cli"

const NONE = "none"

/** The names of all occurrences of a flag; `none` alone for an empty list. */
const namesOf = (given: ReadonlyArray<string>): ReadonlyArray<string> => {
  const names = given.flatMap((some) => some.split(",")).map((name) => name.trim())
  return names.length === 1 && names[0] === NONE ? [] : names
}

const wholeOf = (text: string, { least, most }: { readonly least: number; readonly most: number }) => {
  const value = /^[1-9]\d{0,14}$/.test(text) ? Number(text) : Number.NaN
  return value >= least && value <= most ? Option.some(value) : Option.none()
}

/** The value of its flag; none if the flag was not given. */
const flagOf = (name: string, { input, default: initial, flag }: AnySetting): Flag.Flag<Option.Option<unknown>> => {
  const { metavar = "TEXT", about, none = NONE } = flag
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
      return text.pipe(Flag.map(orNull), Flag.optional)
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

/** The values of the flags of a call. */
export type SettingInput<S> = { readonly [K in keyof S]: Option.Option<S[K]> }

/** A flag for each setting. */
export const declaredFlags = <S, D>({ all }: Settings<S, D>) =>
  Object.fromEntries(
    all.map(({ key, name, setting }) => [key, flagOf(setting.flag.name ?? name.replaceAll("_", "-"), setting)]),
  ) as unknown as { readonly [K in keyof S]: Flag.Flag<Option.Option<S[K]>> }

/** The settings whose flags were given. */
export const givenSettings = <S, D>({ all }: Settings<S, D>, input: SettingInput<S>): Partial<S> =>
  Object.fromEntries(
    all.flatMap(({ key }) => {
      const value: Option.Option<unknown> = input[key]
      return Option.isNone(value) ? [] : [[key, value.value]]
    }),
  ) as Partial<S>

const settingLine = <S>(
  settings: S,
  { key, setting: { shown } }: NamedSetting<S>,
): ReadonlyArray<readonly [label: string, text: string]> => {
  const value: unknown = settings[key]
  if (shown === undefined) return []
  if (value === null || value === false || (Array.isArray(value) && value.length === 0)) {
    return shown.none === undefined ? [] : [[shown.label, shown.none]]
  }
  const { as } = shown
  return [
    [shown.label, as === undefined ? (Array.isArray(value) ? value.join(", ") : String(value)) : as(value as never)],
  ]
}

/** The settings' lines of a card. */
export const settingLines = <S, D>({ all }: Settings<S, D>, settings: S) =>
  all.flatMap((named) => settingLine(settings, named))
