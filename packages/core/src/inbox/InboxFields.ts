/**
 * Which fields of a form's events are the sender's name, their e-mail address, the subject and the message: as set on the source,
 * or guessed from the names of the fields and from recent events.
 */
import { type Json, JsonNumber, type JsonObject } from "../json/Json.ts"
import type { InboxSettings } from "../source/InboxSettings.ts"

/** The parts of a message. */
export const INBOX_PARTS = ["name", "email", "subject", "message"] as const
/** One of `INBOX_PARTS`. */
export type InboxPart = (typeof INBOX_PARTS)[number]

/** The field of each part; null without one. */
export type InboxFields = Readonly<Record<InboxPart, string | null>>

/** The most fields of an event that are looked at. */
const MAX_FIELDS = 300

/** Names that forms use, most likely first, as `plain` writes them. */
const NAMES: Readonly<Record<InboxPart, ReadonlyArray<string>>> = {
  name: ["name", "fullname", "contactname", "firstname", "имя", "фио", "вашеимя", "имяифамилия", "контактноелицо"],
  email: ["email", "mail", "emailaddress", "contactemail", "почта", "электроннаяпочта", "имейл", "емейл"],
  subject: ["subject", "topic", "theme", "title", "reason", "тема", "темаобращения", "темасообщения"],
  message: [
    "message",
    "msg",
    "text",
    "textarea",
    "comment",
    "comments",
    "question",
    "enquiry",
    "inquiry",
    "description",
    "сообщение",
    "текст",
    "текстсообщения",
    "комментарий",
    "вопрос",
    "обращение",
    "отзыв",
  ],
}

const PHONES = ["phone", "tel", "telephone", "phonenumber", "mobile", "телефон", "номертелефона"]

/** Names of fields by which a form can be recognized: those through which its sender can be answered. */
export const FORM_FIELD_NAMES: ReadonlyArray<string> = [...NAMES.email, ...PHONES]

/** A message is longer than a name or a title. */
const LEAST_MESSAGE_LENGTH = 20

const EMAIL = /^[^\s@<>"(),:;[\]\\]{1,64}@[^\s@<>"(),:;[\]\\]{1,190}\.[^\s@<>"(),:;[\]\\.]{2,63}$/u

/** Whether the text is an e-mail address to which a reply can be written. */
export const isEmail = (text: string): boolean => EMAIL.test(text) && !/\p{C}/u.test(text)

/** Only its letters and digits, in lower case, without the prefixes of form builders. */
const plain = (field: string): string =>
  field
    .slice(0, 100)
    .normalize("NFC")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, "")
    .replace(/^(?:your|ваше|ваш|ваша)(?=.)/u, "")

const namedAs = (part: ReadonlyArray<string>, fields: ReadonlyArray<string>): string | null => {
  const at = fields.map((field) => part.indexOf(plain(field)))
  const best = at.filter((place) => place >= 0).toSorted((one, other) => one - other)[0]
  return best === undefined ? null : fields[at.indexOf(best)]!
}

/** Whether a source with these fields looks like a contact form: somebody to answer, and something that they wrote. */
export const looksLikeForm = (fields: ReadonlyArray<string>): boolean =>
  namedAs(NAMES.message, fields) !== null && namedAs(FORM_FIELD_NAMES, fields) !== null

/** A part's text; empty for objects and lists. */
export const partText = (value: Json | undefined): string =>
  value instanceof JsonNumber ? value.token : typeof value === "string" ? value.trim() : ""

const setFields = ({ inboxName, inboxEmail, inboxSubject, inboxMessage }: InboxSettings): InboxFields => ({
  name: inboxName,
  email: inboxEmail,
  subject: inboxSubject,
  message: inboxMessage,
})

/** The texts of each field, from these payloads. */
const textsByField = (payloads: ReadonlyArray<JsonObject>): ReadonlyMap<string, ReadonlyArray<string>> => {
  const texts = new Map<string, Array<string>>()
  for (const payload of payloads) {
    for (const [field, value] of payload.entries().take(MAX_FIELDS)) {
      const known = texts.get(field)
      if (known !== undefined) known.push(partText(value))
      else if (texts.size < MAX_FIELDS) texts.set(field, [partText(value)])
    }
  }
  return texts
}

const mean = (texts: ReadonlyArray<string>): number =>
  texts.reduce((sum, text) => sum + text.length, 0) / Math.max(1, texts.length)

/** The field whose texts are longest, if they are long enough for a message. */
const longest = (texts: ReadonlyMap<string, ReadonlyArray<string>>): string | null => {
  const [best] = [...texts]
    .map(([field, all]) => [field, mean(all)] as const)
    .filter(([, length]) => length >= LEAST_MESSAGE_LENGTH)
    .toSorted(([, one], [, other]) => other - one)
  return best?.[0] ?? null
}

/** Each part's field: the one that is set, or the best guess among the others. */
export const inboxFields = (settings: InboxSettings, payloads: ReadonlyArray<JsonObject>): InboxFields => {
  const set = setFields(settings)
  const taken = new Set(Object.values(set))
  const texts = new Map([...textsByField(payloads)].filter(([field]) => !taken.has(field)))
  const take = (field: string | null): string | null => {
    if (field !== null) texts.delete(field)
    return field
  }
  const named = (part: InboxPart) => take(namedAs(NAMES[part], [...texts.keys()]))
  const isAddress = ([, all]: readonly [string, ReadonlyArray<string>]) =>
    all.some((text) => text !== "") && all.every((text) => text === "" || isEmail(text))
  const email = set.email ?? named("email") ?? take([...texts].find(isAddress)?.[0] ?? null)
  const name = set.name ?? named("name")
  const subject = set.subject ?? named("subject")
  const message = set.message ?? named("message") ?? take(longest(texts))
  return { name, email, subject, message }
}
