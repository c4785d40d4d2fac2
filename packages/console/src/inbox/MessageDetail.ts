/** One message, beside the list and on its own screen: its text, its fields, and what can be done with it. */
import { INBOX_PARTS, type InboxPart } from "@data-cabinet/core/inbox/InboxFields"
import type { EarlierMessages, OpenMessage } from "@data-cabinet/core/inbox/Inbox"
import type { Source } from "@data-cabinet/core/source/Source"
import { Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { payloadFields } from "../event/PayloadFields.ts"
import { badge } from "../html/Badge.ts"
import { boundedText } from "../html/LongText.ts"
import { options } from "../html/Choice.ts"
import { menu } from "../html/Menu.ts"
import { momentsIn } from "../html/Moment.ts"
import { formsAt, postForm } from "../html/PostForm.ts"
import { consolePath, type Frame, may, type Screen } from "../html/Shell.ts"
import { withQuery } from "../screen/SelectionLinks.ts"
import { replyLink } from "./ReplyLink.ts"

export interface MessageData {
  readonly source: Source
  readonly open: OpenMessage
  readonly earlier: EarlierMessages
  /** The page with the form, as its request said; null if unknown. */
  readonly page: string | null
  /** The list that it was opened from, below `/console/`. */
  readonly list: string
  readonly timeZone: string
}

/** Enough to name a message in its heading. */
const TITLE_LENGTH = 120
/** The most fields to choose from. */
const MAX_CHOICES = 100

/** The field of an act that leads to the next message; beside the list, the script opens that one. */
export const AND_NEXT = "next"

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim()

const titleOf = ({ words: { inbox } }: Frame, { open: { message } }: MessageData): string =>
  oneLine(message.subject ?? message.name ?? message.email ?? "").slice(0, TITLE_LENGTH) || inbox.noSubject

const acts = (frame: Frame, { source, open: { message, state }, list, timeZone }: MessageData, isPanel: boolean) => {
  const { inbox: words } = frame.words
  const path = consolePath(frame, `inbox/${source.id}/${message.eventId}`)
  const button = (name: string, text: string, kind = "") =>
    postForm({
      path: `${path}/${name}`,
      kind,
      body: markup`<input type="hidden" name="list" value="${list}">${kind === "next" && !isPanel && markup`<input type="hidden" name="${AND_NEXT}" value="1">`}<button>${text}</button>`,
    })
  const wrote = words.wrote(momentText(timeZone, message.receivedAt), message.name ?? message.email ?? "")
  const href = replyLink(message, wrote)
  const reply = href !== null && markup`<a class="button main" href="${href}">${words.reply}</a>`
  if (state === "trashed" || state === "purged") {
    return markup`${badge("bad", frame.words.event.states[state] ?? state)}${state === "trashed" && may(frame, "event.trash") && button("restore", frame.words.event.putBack)}`
  }
  const marks =
    may(frame, "inbox.mark") &&
    markup`${message.done ? button("undone", words.undone) : button("done", words.done, "next")}${message.read ? button("unread", words.unread) : button("read", words.markRead, isPanel ? "seen" : "")}`
  return markup`${reply}${marks}${may(frame, "event.trash") && button("trash", words.trash, "next")}`
}

const momentText = (timeZone: string, at: string): string =>
  new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" }).format(new Date(at))

/** Which field is which, to choose among those of this message. */
const fieldsMenu = (frame: Frame, { source, open, list }: MessageData): HtmlValue => {
  const { inbox: words } = frame.words
  if (!may(frame, "source.change") || !(open.payload instanceof Map)) return null
  const names = [...open.payload.keys().take(MAX_CHOICES)].filter((name) => name.length <= 200)
  const set: Readonly<Record<InboxPart, string | null>> = {
    name: source.inboxName,
    email: source.inboxEmail,
    subject: source.inboxSubject,
    message: source.inboxMessage,
  }
  const choice = (part: InboxPart) => {
    const chosen = set[part] ?? ""
    const known = chosen === "" || names.includes(chosen) ? names : [chosen, ...names]
    const guess = chosen === "" ? open.fields[part] : null
    return markup`<label>${words.parts[part]}<select name="${part}">${options([["", words.guessed(guess)], ...known.map((name) => [name, name] as const)], chosen)}</select></label>`
  }
  return menu({
    id: "fields",
    face: words.fields,
    kind: "quiet",
    body: postForm({
      path: consolePath(frame, `inbox/${source.id}/fields`),
      kind: "form",
      body: markup`<p class="soft">${words.fieldsHint}</p>${INBOX_PARTS.map(choice)}<input type="hidden" name="list" value="${list}"><button>${frame.words.save}</button>`,
    }),
  })
}

const deliveredTo = ({ words: { inbox } }: Frame, { open: { deliveries } }: MessageData): HtmlValue => {
  const all = deliveries.due + deliveries.delivered + deliveries.failed + deliveries.cancelled
  return all > 0 && markup`<span>${inbox.deliveredTo(deliveries.delivered, all)}</span>`
}

const earlierLink = (frame: Frame, { source, open, earlier }: MessageData): HtmlValue => {
  const { email } = open.message
  if (email === null || earlier.count === 0) return null
  const path = withQuery(consolePath(frame, `inbox/${source.id}`), [
    ["mark", "all"],
    ["text", email],
  ])
  return markup`<a href="${path}">${frame.words.inbox.earlier(earlier.count, earlier.whole)}</a>`
}

const body = (frame: Frame, data: MessageData): Html => {
  const { open, page, timeZone } = data
  const { message, payload, fields } = open
  const { inbox: words } = frame.words
  const moment = momentsIn(timeZone)
  const from = [message.name, message.email].flatMap((text) => (text === null ? [] : [oneLine(text)]))
  const text =
    message.message === null
      ? markup`<p class="soft">${words.noMessage}</p>`
      : markup`<div class="prose" tabindex="0">${boundedText(frame.words, message.message, "")}</div>`
  return markup`<p class="soft">${from.map((one) => markup`<bdi class="clamp">${one}</bdi> · `)}${moment(message.receivedAt)}${message.done && markup` ${badge("good", words.isDone)}`}</p>
${text}<div class="ruled">${payloadFields(frame, payload, new Set([fields.message ?? ""]))}</div>
<p class="soft row wrap">${page !== null && markup`<span>${words.from(page)}</span>`}${deliveredTo(frame, data)}${earlierLink(frame, data)}<a href="${consolePath(frame, `events/${message.eventId}`)}">${words.technical} #${message.eventId}</a>${fieldsMenu(frame, data)}</p>`
}

/** Its acts lead back to the list. */
export const messagePanel = (frame: Frame, data: MessageData): Html => {
  const panel = markup`<div class="head top-row"><h2 class="grow">${titleOf(frame, data)}</h2><span class="row wrap">${acts(frame, data, true)}<button type="button" data-close>${frame.words.close}</button></span></div>${body(frame, data)}`
  return formsAt(panel, `/console/${data.list}`)
}

export const messageScreen = (frame: Frame, data: MessageData): Screen => {
  const title = titleOf(frame, data)
  return {
    title,
    section: "inbox",
    main: markup`<p><a href="${consolePath(frame, data.list)}#event-${data.open.message.eventId}">← ${data.source.name}</a></p>
<div class="head"><h1>${title}</h1><span class="row wrap">${acts(frame, data, false)}</span></div><section class="card" aria-label="${frame.words.inbox.message}">${body(frame, data)}</section>`,
  }
}

/** The attribute of a line that is not read yet. */
export const unreadClass = (isUnread: boolean): Html => new Html(isUnread ? ' class="new"' : "")
