/** A message of an inbox: an event of a form, as a person reads it. */
import type { Json, JsonObject } from "../json/Json.ts"
import { parseJson } from "../json/ParseJson.ts"
import * as Shape from "../json/Shape.ts"
import { Result } from "effect"
import { type InboxFields, type InboxPart, partText } from "./InboxFields.ts"

/** The marks that people set on a message. */
export interface MessageMarks {
  readonly read: boolean
  readonly done: boolean
}

/** A message; a part that it lacks is null. */
export interface InboxMessage extends MessageMarks {
  readonly eventId: number
  /** RFC 3339. */
  readonly receivedAt: string
  readonly name: string | null
  readonly email: string | null
  readonly subject: string | null
  readonly message: string | null
}

const part = (what: string) => Shape.orNull(Shape.text(), `${what}; null if it has none.`)

/** The JSON of a message and its description. */
export const inboxMessageShape = Shape.named(
  "InboxMessage",
  Shape.object<InboxMessage>("A form's event, as a person reads it.", {
    eventId: Shape.id("The event's number.", 10417),
    receivedAt: Shape.time("When it was received."),
    read: Shape.flag("Whether somebody marked it as read."),
    done: Shape.flag("Whether somebody marked it as done."),
    name: part("The sender's name"),
    email: part("The sender's e-mail address, as they typed it"),
    subject: part("The subject"),
    message: part("The text; in a list its first 300 characters"),
  }),
)

/** How much of each part a list has, in characters. */
export const LISTED_LENGTH = 300

/** The number, the time and the payload of an event as the feed has it; fields as sent, to the last digit. */
export const readMessage = (event: string): { id: number; receivedAt: string; payload: Json } => {
  const parsed = parseJson(event, { maxDepth: 1_000 })
  const members: JsonObject = Result.isSuccess(parsed) && parsed.success instanceof Map ? parsed.success : new Map()
  return {
    id: Number(partText(members.get("id"))),
    receivedAt: partText(members.get("received_at")),
    payload: members.get("payload") ?? null,
  }
}

/** The message that an event is, with the fields of its source. `length`: how much of each part it has. */
export const messageOf = (
  { id, receivedAt, payload }: ReturnType<typeof readMessage>,
  fields: InboxFields,
  marks: MessageMarks,
  length = Infinity,
): InboxMessage => {
  const of = (one: InboxPart): string | null => {
    const field = fields[one]
    const text = field !== null && payload instanceof Map ? partText(payload.get(field)) : ""
    return text === "" ? null : cut(text, length)
  }
  const parts = { name: of("name"), email: of("email"), subject: of("subject"), message: of("message") }
  return { eventId: id, receivedAt, read: marks.read, done: marks.done, ...parts }
}

/** Without half of a character. */
const cut = (text: string, length: number): string =>
  text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, "")
