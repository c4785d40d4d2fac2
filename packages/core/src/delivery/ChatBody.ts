/**
 * An event as a chat message: its source, its fields, its number and time. Each chat limits what a message holds, so
 * long values are cut with an ellipsis, and the message counts the fields that it leaves out; the event itself stays
 * whole. No value of an event becomes a mention, a link or a heading.
 */
import type { JsonObject } from "../json/Json.ts"
import { printed } from "./BodyPlace.ts"

/** An event, as messages show it. */
export interface ChatEvent {
  readonly id: number
  readonly source: string
  readonly receivedAt: string
  readonly payload: JsonObject
}

type Escape = (character: string) => string

const ELLIPSIS = "…"
const NOTHING = "—"

/** The escaped text, in at most this many UTF-16 code units; a character is escaped whole or left out. */
const cut = (text: string, most: number, escape: Escape): string => {
  let written = ""
  let kept = 0
  for (const character of text) {
    const next = escape(character)
    if (written.length + next.length > most) return `${written.slice(0, kept)}${ELLIPSIS}`
    written += next
    if (written.length < most) kept = written.length
  }
  return written.trim() === "" ? NOTHING : written
}

interface Field {
  readonly name: string
  readonly value: string
}

/** As many fields as fit in `most` units together, each measured by `measure`, and how many others there are. */
const fieldsOf = (
  payload: JsonObject,
  limits: { readonly name: number; readonly value: number; readonly count: number; readonly most: number },
  escape: Escape,
  measure: (field: Field) => number = ({ name, value }) => name.length + value.length + 10,
): { readonly fields: ReadonlyArray<Field>; readonly left: number } => {
  const fields: Array<Field> = []
  let length = 0
  for (const [name, value] of payload) {
    const field = {
      name: cut(name, limits.name, escape),
      value: cut(printed(value).toWellFormed(), limits.value, escape),
    }
    length += measure(field)
    if (fields.length === limits.count || length > limits.most) break
    fields.push(field)
  }
  return { fields, left: payload.size - fields.length }
}

const footer = ({ id, receivedAt }: ChatEvent, left: number): string =>
  `Event ${id} · ${receivedAt}${left > 0 ? ` · ${left} more fields` : ""}`

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" }
const entities: Escape = (character) => ENTITIES[character] ?? character
const asIs: Escape = (character) => character
/** Discord shows a character after a backslash literally. */
const backslashed: Escape = (character) => (/[\\*_~`|>#[\]()<@-]/.test(character) ? `\\${character}` : character)

const SLACK_TEXT = 3_000

const slack = (event: ChatEvent): unknown => {
  const { fields, left } = fieldsOf(event.payload, { name: 150, value: 1_500, count: 200, most: 10_000 }, entities)
  // What a notification shows.
  const short = fieldsOf(event.payload, { name: 50, value: 100, count: 5, most: 500 }, entities)
  const sections: Array<string> = []
  for (const { name, value } of fields) {
    const line = `*${name}:* ${value}`
    const last = sections.at(-1)
    if (last !== undefined && last.length + line.length < SLACK_TEXT) sections[sections.length - 1] = `${last}\n${line}`
    else sections.push(line)
  }
  const mrkdwn = (text: string) => ({ type: "mrkdwn", text, verbatim: true })
  const source = cut(event.source, 140, entities)
  return {
    text: `${source}: ${short.fields.map(({ name, value }) => `${name} ${value}`).join(", ")}`,
    blocks: [
      { type: "section", text: mrkdwn(`*${source}*`) },
      ...sections.map((text) => ({ type: "section", text: mrkdwn(text) })),
      { type: "context", elements: [mrkdwn(footer(event, left))] },
    ],
  }
}

/** A request to Teams has at most 28 KB. */
const TEAMS_BYTES = 18_000

const teams = (event: ChatEvent): unknown => {
  const measure = (field: Field) => Buffer.byteLength(JSON.stringify(field)) + 120
  const limits = { name: 150, value: 2_000, count: 100, most: TEAMS_BYTES }
  const { fields, left } = fieldsOf(event.payload, limits, asIs, measure)
  // The runs of a RichTextBlock are not read as Markdown, unlike the text of a TextBlock.
  const block = (...inlines: ReadonlyArray<object>) => ({
    type: "RichTextBlock",
    inlines: inlines.map((run) => ({ type: "TextRun", ...run })),
  })
  const content = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.2",
    body: [
      block({ text: cut(event.source, 200, asIs), weight: "bolder", size: "medium" }),
      ...fields.map(({ name, value }) => block({ text: `${name}: `, weight: "bolder" }, { text: value })),
      block({ text: footer(event, left), isSubtle: true, size: "small" }),
    ],
  }
  const contentType = "application/vnd.microsoft.card.adaptive"
  return { type: "message", attachments: [{ contentType, contentUrl: null, content }] }
}

const discord = (event: ChatEvent): unknown => {
  // An embed has at most 25 fields, and 6,000 characters in all.
  const { fields, left } = fieldsOf(event.payload, { name: 250, value: 1_000, count: 25, most: 5_000 }, backslashed)
  return {
    embeds: [
      {
        title: cut(event.source, 250, backslashed),
        fields: fields.map((field) => ({ ...field, inline: false })),
        footer: { text: footer(event, left) },
        timestamp: event.receivedAt,
      },
    ],
    allowed_mentions: { parse: [] },
  }
}

const telegram = (event: ChatEvent, url: string): unknown => {
  // 4,096 characters, tags and entities included.
  const { fields, left } = fieldsOf(event.payload, { name: 150, value: 1_000, count: 100, most: 3_600 }, entities)
  const lines = fields.map(({ name, value }) => `<b>${name}:</b> ${value}`)
  return {
    chat_id: new URL(url).searchParams.get("chat_id"),
    text: [`<b>${cut(event.source, 200, entities)}</b>`, ...lines, "", footer(event, left)].join("\n"),
    parse_mode: "HTML",
    link_preview_options: { is_disabled: true },
  }
}

/** The messages of the chats. */
export const CHATS = { slack, teams, discord, telegram } satisfies Record<
  string,
  (event: ChatEvent, url: string) => unknown
>
