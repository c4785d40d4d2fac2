import { settingFields, settingsIn } from "@data-cabinet/console/screen/SettingFields"
import { WORDS } from "@data-cabinet/console/words/Words"
import type { FormCall } from "@data-cabinet/console/screen/ConsoleScreen"
import { DEFAULT_SETTINGS, SOURCE_SETTINGS, type SourceSettings } from "@data-cabinet/core/source/SourceSettings"
import { expect, it } from "vitest"

const FULL: SourceSettings = {
  encoding: "windows-1251",
  thanksUrl: "https://example.com/thanks?a=1&b=2",
  keepHeaders: ["X-GitHub-*", "X-Own"],
  headerFields: ["X-GitHub-Event"],
  keepQuery: true,
  nestBrackets: true,
  rate: 30,
  schema: '{"title":"<a> & \\"b\\""}',
  honeypot: 'web"site',
  allowOrigins: ["https://example.com", "http://example.org:8080"],
  inbox: "on",
  inboxName: "who",
  inboxEmail: "answer to",
  inboxSubject: "what",
  inboxMessage: "words",
}

const unescaped = (text: string) =>
  text
    .replaceAll("&quot;", '"')
    .replaceAll("&#34;", '"')
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&")

/** What a browser sends for an untouched form. */
const sentBy = (fields: ReadonlyArray<{ readonly text: string }>) =>
  fields.flatMap(({ text }): ReadonlyArray<readonly [string, string]> => {
    const name = / name="(\w+)"/.exec(text)![1]!
    if (text.includes('type="checkbox"')) return text.includes(" checked") ? [[name, "on"]] : []
    const area = /<textarea[^>]*>\n?([^<]*)</.exec(text)
    if (area !== null) return [[name, unescaped(area[1]!)]]
    const value = / value="([^"]*)" selected/.exec(text) ?? / value="([^"]*)"/.exec(text)
    return [[name, unescaped(value![1]!)]]
  })

const read = (form: ReadonlyArray<readonly [string, string]>) =>
  settingsIn(SOURCE_SETTINGS, { form } as unknown as FormCall)

it.each([DEFAULT_SETTINGS, FULL])(
  "settingsIn reads the displayed settings back from an untouched form: %j",
  (source) => {
    const fields = settingFields(SOURCE_SETTINGS, source, WORDS.en.source.setting)
    expect(fields).toHaveLength(SOURCE_SETTINGS.all.length)
    expect(read(sentBy(fields))).toEqual(source)
  },
)

it("settingsIn changes no setting that the form lacks, except boxes, which are sent only when checked", () => {
  expect(read([["name", "Orders"]])).toEqual({ keepQuery: false, nestBrackets: false })
})

it.each(["0", "-1", "ten", "1.5"])("settingsIn makes the rate %s a number that is out of range", (rate) => {
  expect(read([["rate", rate]]).rate).toBe(0)
})

it("every setting has a label in both languages, and a chosen one also a name for null", () => {
  for (const { key, setting } of SOURCE_SETTINGS.all) {
    for (const { source } of [WORDS.en, WORDS.ru]) {
      expect(source.setting.label[key]).not.toBe("")
      expect(source.setting.none[key] === undefined).toBe(setting.input.kind !== "choice")
    }
  }
})
