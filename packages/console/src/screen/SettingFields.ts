/** The fields of declared settings in forms, the settings that a sent form has, and how a screen shows them. */
import type { AnySetting, NamedSetting, Settings } from "@data-cabinet/core/json/Setting"
import { Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { options } from "../html/Choice.ts"
import type { Frame } from "../html/Shell.ts"
import type { SettingWords } from "../words/SettingWords.ts"
import { fieldOf } from "./Act.ts"
import type { FormCall } from "./ConsoleScreen.ts"

const NO_HELP = new Html(' autocomplete="off" spellcheck="false"')

const attribute = (name: string, value: string | number | undefined) =>
  value !== undefined && markup` ${new Html(name)}="${String(value)}"`

const textOf = (value: unknown) => (value === null ? "" : String(value))

const field = <S>(settings: S, { key, name, setting }: NamedSetting<S>, words: SettingWords<keyof S>): Html => {
  const { input, default: initial } = setting
  const label = words.label[key]
  const value: unknown = settings[key]
  switch (input.kind) {
    case "flag":
      return markup`<label class="choice"><input type="checkbox" name="${name}" value="on"${value === true && new Html(" checked")}> ${label}</label>`
    case "choice": {
      const none = initial === null ? [["", words.none[key] ?? ""] as const] : []
      const all = [...none, ...input.values.map((one) => [one, words.values[key]?.[one] ?? one] as const)]
      return markup`<label>${label}<select name="${name}">${options(all, textOf(value))}</select></label>`
    }
    case "whole":
      return markup`<label>${label}<input name="${name}" type="number" min="${String(input.least)}" max="${String(input.most)}" value="${textOf(value)}" autocomplete="off"></label>`
    case "duration":
      return markup`<label>${label}<input name="${name}"${initial !== null && new Html(" required")} value="${value === null ? "" : input.write(Number(value))}" placeholder="${input.example}" pattern="[1-9][0-9]*[${input.units}]" autocomplete="off"></label>`
    case "text":
      return markup`<label>${label}<input name="${name}"${attribute("type", input.is)} maxlength="${String(input.maxLength)}" value="${textOf(value)}"${attribute("placeholder", input.example)}${NO_HELP}></label>`
    case "names":
      return markup`<label>${label}<input name="${name}" value="${(value as ReadonlyArray<string>).join(", ")}"${attribute("placeholder", input.example)}${NO_HELP}></label>`
  }
}

/** A field for each setting. */
export const settingFields = <S, D>(
  { all }: Settings<S, D>,
  settings: S,
  words: SettingWords<keyof S>,
): ReadonlyArray<Html> => all.map((setting) => field(settings, setting, words))

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
    case "text":
      return value !== "" && markup`<span class="mono">${String(value)}</span>`
    case "names":
      return (value as ReadonlyArray<string>).join(", ")
  }
}

/** The settings in a list of facts: without those that are off or empty, and without null unless its meaning has a name. */
export const settingFacts = <S, D>(
  frame: Frame,
  { all }: Settings<S, D>,
  settings: S,
  words: SettingWords<keyof S>,
): ReadonlyArray<HtmlValue> =>
  all.map(({ key, setting }) => {
    const value: unknown = settings[key]
    const text = value === null ? words.none[key] : shownValue(frame, setting, value, words.values[key] ?? {})
    return text !== undefined && text !== false && text !== "" && markup`<dt>${words.label[key]}</dt><dd>${text}</dd>`
  })

const valueIn = ({ input, default: initial }: AnySetting, text: string): unknown => {
  if (text === "" && initial === null) return null
  switch (input.kind) {
    case "flag":
      return text === "on"
    case "choice":
      return input.values.includes(text) ? text : initial
    case "text":
      return text
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

/**
 * The settings of the sent form. A form rendered before a setting existed leaves it unchanged; an unchecked box is not
 * sent, and means off.
 */
export const settingsIn = <S, D>({ all }: Settings<S, D>, call: FormCall): Partial<S> => {
  const sent = new Set(call.form.map(([name]) => name))
  return Object.fromEntries(
    all
      .filter(({ name, setting }) => setting.input.kind === "flag" || sent.has(name))
      .map(({ key, name, setting }) => [key, valueIn(setting, fieldOf(call, name))]),
  ) as Partial<S>
}
