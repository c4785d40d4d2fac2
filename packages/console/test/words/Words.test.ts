import { RUSSIAN_REFUSALS } from "@data-cabinet/console/words/RussianRefusals"
import { WORDS } from "@data-cabinet/console/words/Words"
import type { Frame } from "@data-cabinet/console/html/Shell"
import { refusalLine } from "@data-cabinet/console/screen/ErrorScreen"
import { assert, it } from "vitest"
import type { ManageCode } from "@data-cabinet/http-node/manage/ManageCode"
import { MANAGE_CODES } from "@data-cabinet/http-node/manage/ManageRefusals"

/** Names that are the same in both languages. */
const NAMES = new Set([
  "Data",
  "Cabinet",
  "API",
  "Enter",
  "C",
  "UTC",
  "UTF",
  "ASCII",
  "HTML",
  "CSV",
  "TSV",
  "JSON",
  "NDJSON",
  "XLSX",
  "ODS",
  "SQL",
  "psql",
  "PostgreSQL",
  "URL",
  "s",
  "m",
  "h",
  "d",
  "OpenID",
  "Connect",
  "TLS",
  "CloudEvents",
  "Discord",
  "Microsoft",
  "Slack",
  "Teams",
  "Telegram",
  "ALTCHA",
  "Cloudflare",
  "Content",
  "Policy",
  "Security",
  "Turnstile",
  "curl",
  "hCaptcha",
  "payload",
  "name",
  "PEM",
  // Recipes, by the names in their setting.
  "hmac",
  "sns",
  "token",
  "ARN",
  "NATS",
  // Values of a parameter.
  "beginning",
  "now",
  // Where a destination is, and what it is reached with.
  "Amazon",
  "JWT",
  "nkey",
  "nats",
  "s",
  "tls",
  "us",
  "east",
  // A field of a form, in an example.
  "leads",
])

/** The name of a setting. */
const SETTING = /[A-Z]+(?:_[A-Z]+)+/g

const textsOf = (words: unknown): ReadonlyArray<string> => {
  if (words === null) return []
  if (typeof words === "string") return [words]
  if (typeof words === "function") return textsOf((words as (...given: ReadonlyArray<unknown>) => string)(1, "", 2))
  return Object.values(words as object).flatMap(textsOf)
}

it("a Russian text has no Latin words except names", () => {
  const { product: _, errors, ...others } = WORDS.ru
  const { sentence: __, ...otherErrors } = errors
  const russian = { ...others, ...otherErrors, sentences: RUSSIAN_REFUSALS }
  for (const text of textsOf(russian)) {
    const latin = (text.replaceAll(SETTING, "").match(/[A-Za-z]+/g) ?? []).filter((word) => !NAMES.has(word))
    assert.deepStrictEqual(latin, [], text)
  }
})

it("every code that a form can be refused with has a Russian sentence, followed by the message with the details", () => {
  const frame = { base: "", language: "ru", words: WORDS.ru } as Frame
  for (const code of Object.keys(MANAGE_CODES) as ReadonlyArray<ManageCode>) {
    const line = refusalLine(frame, { code, message: "The <details>." }).text
    assert.match(
      line,
      /^(?:[А-ЯЁ]|PostgreSQL)[^<>]+\. <small lang="en">The &lt;details&gt;\.<\/small> <small>Код <code>\w+<\/code><\/small>$/,
      code,
    )
  }
  const english = refusalLine(
    { ...frame, words: WORDS.en },
    { code: "bad_url", message: "The URL is wrong.", param: "url" },
  )
  assert.strictEqual(english.text, "The URL is wrong. <small>Code <code>bad_url</code> · <code>url</code></small>")
})

it("counts have the plural form of their number", () => {
  assert.deepStrictEqual(
    [1, 2, 5, 21].map((count) => WORDS.ru.table.shown(count, false)),
    ["1 строка всего", "2 строки всего", "5 строк всего", "21 строка всего"],
  )
  assert.strictEqual(WORDS.en.table.shown(1, true), "1 row on this page")
})
