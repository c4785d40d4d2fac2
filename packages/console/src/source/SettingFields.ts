/** The fields of the settings' form, and the settings that a sent form has. */
import type { AnySetting } from "@data-cabinet/core/source/Setting"
import { ALL_SETTINGS, type NamedSetting, type SourceSettings } from "@data-cabinet/core/source/SourceSettings"
import { Html, markup } from "@data-cabinet/http-node/html/Html"
import { fieldOf } from "../screen/Act.ts"
import type { FormCall } from "../screen/ConsoleScreen.ts"
import type { SettingWords } from "../words/SettingWords.ts"

const NO_HELP = new Html(' autocomplete="off" spellcheck="false"')

const attribute = (name: string, value: string | number | undefined) =>
  value !== undefined && markup` ${new Html(name)}="${String(value)}"`

const field = (source: SourceSettings, { key, name, setting: { input } }: NamedSetting, words: SettingWords): Html => {
  const label = words.label[key]
  const value = source[key]
  switch (input.kind) {
    case "flag":
      return markup`<label class="choice"><input type="checkbox" name="${name}" value="on"${value === true && new Html(" checked")}> ${label}</label>`
    case "choice": {
      const option = (one: string, text: string) =>
        markup`<option value="${one}"${one === (value ?? "") && new Html(" selected")}>${text}</option>`
      return markup`<label>${label}<select name="${name}">${option("", words.none[key] ?? "")}${input.values.map((one) => option(one, words.values[key]?.[one] ?? one))}</select></label>`
    }
    case "whole":
      return markup`<label>${label}<input name="${name}" type="number" min="${String(input.least)}" max="${String(input.most)}" value="${value === null ? "" : String(value)}" autocomplete="off"></label>`
    case "text":
      return markup`<label>${label}<input name="${name}"${attribute("type", input.is)} maxlength="${String(input.maxLength)}" value="${value === null ? "" : String(value)}"${attribute("placeholder", input.example)}${NO_HELP}></label>`
    case "names":
      return markup`<label>${label}<input name="${name}" value="${(value as ReadonlyArray<string>).join(", ")}"${attribute("placeholder", input.example)}${NO_HELP}></label>`
  }
}

/** A field for each setting. */
export const settingFields = (source: SourceSettings, words: SettingWords): ReadonlyArray<Html> =>
  ALL_SETTINGS.map((setting) => field(source, setting, words))

const valueIn = ({ input }: AnySetting, text: string): unknown => {
  switch (input.kind) {
    case "flag":
      return text === "on"
    case "choice":
      return input.values.includes(text) ? text : null
    case "text":
      return text === "" ? null : text
    case "names":
      return text.split(/[\s,]+/).filter((name) => name !== "")
    case "whole":
      // Anything but a number becomes a number out of range, which is refused.
      return text === "" ? null : /^\d{1,15}$/.test(text) ? Number(text) : input.least - 1
  }
}

/** The values that the form shows, by their keys. */
export const settingValues = (
  source: SourceSettings & { readonly name: string },
): Readonly<Record<string, unknown>> => ({
  name: source.name,
  ...Object.fromEntries(ALL_SETTINGS.map(({ key }) => [key, source[key]])),
})

/**
 * The settings of the sent form. A form rendered before a setting existed leaves it unchanged; an unchecked box is not
 * sent, and means off.
 */
export const settingsIn = (call: FormCall): Partial<SourceSettings> => {
  const sent = new Set(call.form.map(([name]) => name))
  return Object.fromEntries(
    ALL_SETTINGS.filter(({ name, setting }) => setting.input.kind === "flag" || sent.has(name)).map(
      ({ key, name, setting }) => [key, valueIn(setting, fieldOf(call, name))],
    ),
  )
}
