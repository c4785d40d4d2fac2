/** The fields of declared settings in forms, the settings that a sent form has, and how a screen shows them. */
import {
  type AnyNamed,
  type AnySetting,
  type AnySettings,
  type GivenSettings,
  partsOf,
  type Settings,
} from "@data-cabinet/core/json/Setting"
import { Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { options } from "../html/Choice.ts"
import type { Frame } from "../html/Shell.ts"
import type { SettingWords } from "../words/SettingLabels.ts"
import { fieldOf } from "./Act.ts"
import type { FormCall } from "./ConsoleScreen.ts"

const NO_HELP = new Html(' autocomplete="off" spellcheck="false"')

const attribute = (name: string, value: string | number | undefined) =>
  value !== undefined && markup` ${new Html(name)}="${String(value)}"`

const textOf = (value: unknown) => (value === null ? "" : String(value))

type Words = SettingWords<string>

const field = (named: AnyNamed, value: unknown, words: Words): Html => {
  const { key, name, setting } = named
  const { input, default: initial } = setting
  const label = words.label[key]!
  const hint = words.hint[key] !== undefined && markup`<p class="soft">${words.hint[key]}</p>`
  switch (input.kind) {
    case "flag":
      return markup`<label class="choice"><input type="checkbox" name="${name}" value="on"${value === true && new Html(" checked")}> ${label}</label>${hint}`
    case "choice": {
      const none = initial === null ? [["", words.none[key] ?? ""] as const] : []
      const all = [...none, ...input.values.map((one) => [one, words.values[key]?.[one] ?? one] as const)]
      return markup`<label>${label}<select name="${name}">${options(all, textOf(value))}</select></label>${hint}`
    }
    case "whole":
      return markup`<label>${label}<input name="${name}" type="number" min="${String(input.least)}" max="${String(input.most)}" value="${textOf(value)}" autocomplete="off"></label>`
    case "duration":
      return markup`<label>${label}<input name="${name}"${initial !== null && new Html(" required")} value="${value === null ? "" : input.write(Number(value))}" placeholder="${input.example}" pattern="[1-9][0-9]*[${input.units}]" autocomplete="off"></label>`
    case "parts": {
      const shown = (value ?? input.of.defaults) as Readonly<Record<string, unknown>>
      return markup`${partsOf(named).map((part) => field(part, shown[part.key], words.parts[key]!))}${hint}`
    }
    case "text":
      if (input.is === "document") {
        return markup`<label>${label}<textarea name="${name}" class="mono" rows="4" maxlength="${String(input.maxLength)}"${attribute("placeholder", input.example)}${NO_HELP}>
${textOf(value)}</textarea></label>${hint}`
      }
      return markup`<label>${label}<input name="${name}"${attribute("type", input.is)} maxlength="${String(input.maxLength)}" value="${textOf(value)}"${attribute("placeholder", input.example)}${NO_HELP}></label>${hint}`
    case "names":
      return markup`<label>${label}<input name="${name}" value="${(value as ReadonlyArray<string>).join(", ")}"${attribute("placeholder", input.example)}${NO_HELP}></label>`
  }
}

/** A field for each setting; `within` names the value whose parts they are. */
export const settingFields = <S, D>(
  { all }: Settings<S, D>,
  settings: S,
  words: SettingWords<keyof S>,
  within?: string,
): ReadonlyArray<Html> =>
  all.map((named) => {
    const name = within === undefined ? named.name : `${within}_${named.name}`
    return field({ ...named, name }, settings[named.key], words)
  })

/** A number of days, hours, minutes or seconds, in the largest unit of which they are whole. */
export const durationText = ({ words: { poll: words } }: Frame, seconds: number): string => {
  if (seconds % 86_400 === 0) return words.days(seconds / 86_400)
  if (seconds % 3_600 === 0) return words.hours(seconds / 3_600)
  return seconds % 60 === 0 ? words.minutes(seconds / 60) : words.seconds(seconds)
}

const shownValue = (frame: Frame, { input }: AnySetting, value: unknown, names: Readonly<Record<string, string>>) => {
  switch (input.kind) {
    case "flag":
      return value === true && "✓"
    case "choice":
      return names[String(value)] ?? String(value)
    case "whole":
      return frame.words.table.number(Number(value))
    case "duration":
      return durationText(frame, Number(value))
    case "parts":
      return false
    case "text":
      return value !== "" && input.is !== "document" && markup`<span class="mono">${String(value)}</span>`
    case "names":
      return (value as ReadonlyArray<string>).join(", ")
  }
}

const fact = (frame: Frame, named: AnyNamed, value: unknown, words: Words): HtmlValue => {
  const { key, setting } = named
  const { input, default: initial } = setting
  if (input.kind === "parts") {
    const parts = value as Readonly<Record<string, unknown>>
    return partsOf(named)
      .filter((part) => parts[part.key] !== part.setting.default)
      .map((part) => fact(frame, part, parts[part.key], words.parts[key]!))
  }
  if (input.kind === "choice" && initial !== null && value === initial) return null
  const text = value === null ? words.none[key] : shownValue(frame, setting, value, words.values[key] ?? {})
  return text !== undefined && text !== false && text !== "" && markup`<dt>${words.label[key]!}</dt><dd>${text}</dd>`
}

/**
 * The settings in a list of facts: without documents, those that are off or empty, choices and parts that have their defaults, and
 * without null unless its meaning has a name.
 */
export const settingFacts = <S, D>(
  frame: Frame,
  { all }: Settings<S, D>,
  settings: S,
  words: SettingWords<keyof S>,
): ReadonlyArray<HtmlValue> => all.map((named) => fact(frame, named, settings[named.key], words as Words))

const valueIn = ({ input, default: initial }: AnySetting, text: string): unknown => {
  if (text === "" && initial === null) return null
  switch (input.kind) {
    case "flag":
      return text === "on"
    case "choice":
      return input.values.includes(text) || initial !== null ? text : initial
    case "text":
      // A browser sends each line break as two characters.
      return text.replaceAll("\r\n", "\n")
    case "parts":
      return initial
    case "names":
      return text.split(/[\s,]+/).filter((name) => name !== "")
    case "whole":
      // Anything but a number becomes a number out of range, which is refused.
      return /^\d{1,15}$/.test(text) ? Number(text) : input.least - 1
    case "duration":
      return input.parse(text) ?? 0
  }
}

/** The values that the form shows, by their keys. */
export const settingValues = <S, D>({ all }: Settings<S, D>, settings: S): Readonly<Record<string, unknown>> =>
  Object.fromEntries(all.map(({ key }) => [key, settings[key]]))

const partsIn = (call: FormCall, named: AnyNamed) =>
  Object.fromEntries(partsOf(named).map(({ key, name, setting }) => [key, valueIn(setting, fieldOf(call, name))]))

/**
 * The settings of the sent form. A form rendered before a setting existed leaves it unchanged; an unchecked box is not
 * sent, and means off. Empty parts leave a value unchanged that may be null.
 */
export const settingsIn = <S, D>({ all }: Settings<S, D>, call: FormCall): GivenSettings<S> => {
  const filled = new Map(call.form.map(([name, value]) => [name, value.trim() !== ""]))
  return Object.fromEntries(
    (all as AnySettings["all"]).flatMap((named) => {
      const { key, name, setting } = named
      const { input, default: initial } = setting
      if (input.kind !== "parts") {
        const isSent = input.kind === "flag" || filled.has(name)
        return isSent ? [[key, valueIn(setting, fieldOf(call, name))]] : []
      }
      const isSent = partsOf(named).some((part) => (initial === null ? filled.get(part.name) : filled.has(part.name)))
      return isSent ? [[key, partsIn(call, named)]] : []
    }),
  ) as GivenSettings<S>
}
