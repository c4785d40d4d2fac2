/**
 * The link with which a person's own mail program answers a message. It has a quotation, cut so that the link stays shorter than
 * Windows passes on.
 */
import { isEmail } from "@data-cabinet/core/inbox/InboxFields"
import type { InboxMessage } from "@data-cabinet/core/inbox/InboxMessage"

/** Windows passes on 2,047 characters to a mail program. */
const MAX_LINK = 1_900
const MAX_SUBJECT = 200

/** One line, without characters that hide or reorder others. */
const lineOf = (text: string): string => text.replaceAll(/[\p{C}\s]+/gu, " ").trim()

const encoded = (text: string): string => encodeURIComponent(text.toWellFormed())

const subjectOf = ({ subject }: InboxMessage): string => {
  const line = lineOf(subject ?? "").slice(0, MAX_SUBJECT)
  return /^re:/i.test(line) || line === "" ? line : `Re: ${line}`
}

const quoted = (text: string): string =>
  text
    .split(/\r\n|\r|\n/)
    .map((line) => `> ${line}`)
    .join("\r\n")

/** Null if the message has no address that can be answered. `intro`: the line above the quotation. */
export const replyLink = (message: InboxMessage, intro: string): string | null => {
  const { email, message: text } = message
  if (email === null || !isEmail(email)) return null
  const subject = subjectOf(message)
  const begin = `mailto:${encoded(email).replace("%40", "@")}?${subject === "" ? "" : `subject=${encoded(subject)}&`}body=`
  const head = encoded(`\r\n\r\n${lineOf(intro)}\r\n`)
  if (text === null) return begin
  const whole = encoded(quoted(text.slice(0, MAX_LINK)))
  const room = MAX_LINK - begin.length - head.length
  const isCut = text.length > MAX_LINK || whole.length > room
  // Never in the middle of a character's bytes.
  return begin + head + (isCut ? `${fitting(text, room - ELLIPSIS.length)}${ELLIPSIS}` : whole)
}

const ELLIPSIS = encoded("…")

/** As much of the quotation as fits, in whole characters. */
const fitting = (text: string, room: number): string => {
  let length = 0
  let fit = ""
  for (const character of quoted(text.slice(0, MAX_LINK))) {
    const next = encoded(character)
    length += next.length
    if (length > room) return fit
    fit += next
  }
  return fit
}
