/** What a request carries, by the kind of its body: each is checked by the rules that its receiver publishes. */
import type { Attempt } from "@data-cabinet/core/delivery/Attempt"
import { checkBody, checkBodyFits } from "@data-cabinet/core/delivery/AddressSettings"
import type { BodyChoice } from "@data-cabinet/core/delivery/BodySetting"
import { type Letter, type Parcel, writeLetter } from "@data-cabinet/core/delivery/Letter"
import { HTTP } from "cloudevents"
import { Effect, Result } from "effect"
import { assert, expect, it } from "vitest"
import { seeded } from "../../../../test/support/random.ts"

const item = (payload: string, extra = "", id = 42): Parcel["items"][number] => ({
  id,
  type: "event.received" satisfies Attempt["type"],
  createdAt: "2026-11-27T10:00:00Z",
  event: {
    json: Buffer.from(
      `{"id":7,"source":{"id":5,"name":"Заказы <&> 100%"},"channel":"webhook","received_at":"2026-11-27T10:00:00.123456Z","payload":${payload},"repeat_of":null,"history":false,"deleted_at":null${extra}}`,
    ),
    sourceId: 5,
    sourceName: "Заказы <&> 100%",
  },
})

const written = (choice: BodyChoice, parcel: Parcel, url = "https://example.com/sendMessage?chat_id=-100"): Letter => {
  const body = Result.getOrThrow(checkBody(choice))
  const letter = writeLetter({ url, body }, parcel)
  return Effect.isEffect(letter) ? Effect.runSync(letter) : letter
}

const one = (payload: string, extra = ""): Parcel => ({ items: [item(payload, extra)], isBatch: false })
const textOf = ({ body }: Letter): string => new TextDecoder().decode(body)

const lowerCased = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

const cloudEventOf = (letter: Letter) =>
  HTTP.toEvent({ headers: lowerCased(letter.headers), body: textOf(letter) }) as unknown as {
    readonly [name: string]: unknown
    readonly validate: () => boolean
  }

it.each(["cloudevents", "cloudevents-binary"] as const)(
  "writeLetter writes %s that the official library takes",
  (kind) => {
    const letter = written({ kind }, one(`{"total":12345678901234567890.10,"name":"Ада"}`, `,"verified":true`))
    const event = cloudEventOf(letter)
    expect(event.validate()).toBe(true)
    expect(event).toMatchObject({
      specversion: "1.0",
      id: "7",
      source: "/sources/5",
      type: "event.received",
      time: "2026-11-27T10:00:00.123Z",
      channel: "webhook",
    })
    expect(textOf(letter)).toContain('"total":12345678901234567890.10')
    if (kind === "cloudevents") {
      expect(event["subject"]).toBe("Заказы <&> 100%")
      expect(letter.headers["Content-Type"]).toBe("application/cloudevents+json; charset=utf-8")
      return
    }
    expect(letter.headers).toMatchObject({ "Content-Type": "application/json", "ce-id": "7", "ce-verified": "true" })
    expect(decodeURIComponent(letter.headers["ce-subject"]!)).toBe("Заказы <&> 100%")
    expect(letter.headers["ce-subject"]).toMatch(/^[!-~]+$/)
  },
)

it("writeLetter writes a batch of CloudEvents as their list", () => {
  const parcel: Parcel = { items: [item(`{"n":1.0}`), item(`{"n":2}`, "", 43)], isBatch: true }
  const letter = written({ kind: "cloudevents" }, parcel)
  expect(letter).toMatchObject({ id: 43, type: "events.received" })
  expect(letter.headers["Content-Type"]).toBe("application/cloudevents-batch+json; charset=utf-8")
  const events: unknown = HTTP.toEvent({ headers: lowerCased(letter.headers), body: textOf(letter) })
  const validated = (events as ReadonlyArray<{ readonly validate: () => boolean }>).map((event) => event.validate())
  expect(validated).toEqual([true, true])
  expect(textOf(letter)).toContain('{"n":1.0}')
})

it("writeLetter writes a batch of a template as a list, and a single one of it as a list too", () => {
  const template = `{"n": "{{payload.n}}", "of": "{{delivery_id}}"}`
  const two = { items: [item(`{"n":1.0}`), item(`{"n":2}`, "", 43)], isBatch: true }
  expect(textOf(written({ kind: "template", template }, two))).toBe(`[{"n": 1.0, "of": 42},{"n": 2, "of": 43}]`)
  const single = { items: two.items.slice(0, 1), isBatch: true }
  expect(textOf(written({ kind: "template", template }, single))).toBe(`[{"n": 1.0, "of": 42}]`)
})

it.each(["cloudevents-binary", "slack", "teams", "discord", "telegram", "form"] as const)(
  "checkBodyFits refuses batches of %s",
  (kind) => {
    const fits = (max: number) =>
      checkBodyFits(Result.getOrThrow(checkBody({ kind })), "https://example.com/?chat_id=1", { max, wait: 0 })
    expect(Result.isSuccess(fits(1))).toBe(true)
    const refused = fits(2)
    assert(Result.isFailure(refused))
    expect(refused.failure.message).toMatch(/describes one event: send it without batches/)
  },
)

it("checkBodyFits refuses Telegram without a chat", () => {
  const body = Result.getOrThrow(checkBody({ kind: "telegram" }))
  const fits = (url: string) => Result.isSuccess(checkBodyFits(body, url, { max: 1, wait: 0 }))
  expect(fits("https://api.telegram.org/bot1:x/sendMessage?chat_id=-100")).toBe(true)
  expect(fits("https://api.telegram.org/bot1:x/sendMessage?chat_id=")).toBe(false)
  expect(fits("https://api.telegram.org/bot1:x/sendMessage")).toBe(false)
})

it.each<readonly [BodyChoice, RegExp]>([
  [{ kind: "template" }, /needs a template/],
  [{ kind: "slack", template: "{}" }, /takes no template/],
  [{ kind: "slack", method: "PUT" }, /is sent with POST/],
  [{ kind: "template", template: "{}", contentType: "text/plain" }, /application\/json/],
  [{ kind: "template", template: "{}", contentType: "application/json\r\nX-A: b" }, /application\/json/],
  [{ kind: "form", contentType: "application/json" }, /Only a body of kind template/],
  [{ kind: "template", template: `{"a":"{{x}}"}` }, /at line 1, column 7/],
  [{ kind: "xml" as never }, /must be one of/],
])("checkBody refuses %j", (choice, words) => {
  const checked = checkBody(choice)
  assert(Result.isFailure(checked))
  expect(checked.failure).toMatchObject({ code: "bad_template", message: expect.stringMatching(words) as string })
})

it("writeLetter writes a template with its method and content type, and a form with its fields", () => {
  const template = `{"name": "{{payload.name}}"}`
  const contentType = "application/vnd.api+json"
  const put = written({ kind: "template", template, method: "PUT", contentType }, one(`{"name":"Ada"}`))
  expect(put).toMatchObject({ method: "PUT", headers: { "Content-Type": contentType } })
  const payload = `{"name":"Ada & Bob","total":1.0,"tags":["a","b"],"more":{"x":1}}`
  expect(textOf(written({ kind: "form" }, one(payload)))).toBe(
    "name=Ada+%26+Bob&total=1.0&tags=a&tags=b&more=%7B%22x%22%3A1%7D",
  )
  const form = written({ kind: "form", template: `{"who":"{{payload.name}}","n":"{{payload.total}}"}` }, one(payload))
  expect(textOf(form)).toBe("who=Ada+%26+Bob&n=1.0")
  expect(form.headers["Content-Type"]).toBe("application/x-www-form-urlencoded")
})

it("writeLetter fails in words if a template makes a body too long", () => {
  const template = JSON.stringify(Array.from({ length: 200 }, () => "{{payload.t}}"))
  const body = Result.getOrThrow(checkBody({ kind: "template", template }))
  const letter = writeLetter({ url: "https://example.com", body }, one(JSON.stringify({ t: "x".repeat(60_000) })))
  assert(Effect.isEffect(letter))
  expect(Effect.runSync(Effect.flip(letter))).toMatch(/more than 4,194,304 characters by its template/)
})

it("writeLetter sends a sample if there is no event", () => {
  const ping = { ...item("{}"), type: "ping" as const, event: null }
  const text = textOf(written({ kind: "telegram" }, { items: [ping], isBatch: false }))
  expect(JSON.parse(text)).toMatchObject({
    chat_id: "-100",
    text: expect.stringContaining("A test of Data Cabinet") as string,
  })
})

interface SlackText {
  readonly type: string
  readonly text: string
}

const NASTY = [
  "<!channel>",
  "@everyone",
  "<@U1>",
  "[x](https://evil.example)",
  "&amp;",
  "*b*",
  "_i_",
  "`c`",
  "é👋",
  "\n# h",
  "<b>",
  "a".repeat(700),
  " ",
  "\\",
]

/** Payloads of many, long and hostile fields. */
const payloads = Array.from({ length: 100 }, (_, seed) => {
  const random = seeded(seed)
  const text = () => Array.from({ length: random(8) }, () => NASTY[random(NASTY.length)]!).join("")
  return JSON.stringify(
    Object.fromEntries(Array.from({ length: random(120) }, (_none, n) => [`${n}${text()}`, text()])),
  )
})

it("writeLetter keeps within the limits of Slack's Block Kit, and escapes what Slack interprets", () => {
  for (const payload of payloads) {
    const message = JSON.parse(textOf(written({ kind: "slack" }, one(payload)))) as {
      readonly text: string
      readonly blocks: ReadonlyArray<{
        readonly type: string
        readonly text?: SlackText
        readonly elements?: ReadonlyArray<SlackText>
      }>
    }
    expect(message.blocks.length).toBeLessThanOrEqual(50)
    const texts = message.blocks.flatMap(({ text, elements }) => [
      ...(text === undefined ? [] : [text]),
      ...(elements ?? []),
    ])
    for (const { type, text } of texts) {
      expect(type).toBe("mrkdwn")
      expect(text.length).toBeGreaterThan(0)
      expect(text.length).toBeLessThanOrEqual(3_000)
      expect(text).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/)
    }
    expect(texts.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThan(13_000)
    expect(message.text.length).toBeLessThanOrEqual(4_000)
    expect(message.text).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/)
  }
})

it("writeLetter keeps within the limits of Teams, and leaves no text to its Markdown", () => {
  for (const payload of payloads) {
    const letter = written({ kind: "teams" }, one(payload))
    expect(letter.body.length).toBeLessThan(28_000)
    const { type, attachments } = JSON.parse(textOf(letter)) as {
      readonly type: string
      readonly attachments: ReadonlyArray<{
        readonly contentType: string
        readonly content: {
          readonly type: string
          readonly version: string
          readonly body: ReadonlyArray<{ readonly type: string }>
        }
      }>
    }
    expect(type).toBe("message")
    const [{ contentType, content }] = attachments as [(typeof attachments)[number]]
    expect(contentType).toBe("application/vnd.microsoft.card.adaptive")
    expect(content).toMatchObject({ type: "AdaptiveCard", version: "1.2" })
    expect(new Set(content.body.map((block) => block.type))).toEqual(new Set(["RichTextBlock"]))
  }
})

it("writeLetter keeps within the limits of Discord's embeds, and mentions nobody", () => {
  for (const payload of payloads) {
    const { embeds, allowed_mentions: mentions } = JSON.parse(textOf(written({ kind: "discord" }, one(payload)))) as {
      readonly embeds: ReadonlyArray<{
        readonly title: string
        readonly fields: ReadonlyArray<{ readonly name: string; readonly value: string }>
        readonly footer: { readonly text: string }
        readonly timestamp: string
      }>
      readonly allowed_mentions: unknown
    }
    expect(mentions).toEqual({ parse: [] })
    const [{ title, fields, footer, timestamp }] = embeds as [(typeof embeds)[number]]
    expect(new Date(timestamp).getTime()).toBeGreaterThan(0)
    expect(title.length).toBeLessThanOrEqual(256)
    expect(fields.length).toBeLessThanOrEqual(25)
    for (const { name, value } of fields) {
      expect(name.trim().length).toBeGreaterThan(0)
      expect(name.length).toBeLessThanOrEqual(256)
      expect(value.trim().length).toBeGreaterThan(0)
      expect(value.length).toBeLessThanOrEqual(1_024)
      expect(value.replaceAll(/\\./gs, "")).not.toMatch(/[*_~`|>#[\]()<@-]/)
    }
    const sum =
      title.length + footer.text.length + fields.reduce((all, { name, value }) => all + name.length + value.length, 0)
    expect(sum).toBeLessThanOrEqual(6_000)
  }
})

it("writeLetter keeps within the limits of Telegram's sendMessage, and escapes its HTML", () => {
  for (const payload of payloads) {
    const { text, parse_mode: mode } = JSON.parse(textOf(written({ kind: "telegram" }, one(payload)))) as {
      readonly text: string
      readonly parse_mode: string
    }
    expect(mode).toBe("HTML")
    expect(text.length).toBeLessThanOrEqual(4_096)
    expect(text.replaceAll(/<b>[^<>]*<\/b>/g, "")).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/)
  }
})
