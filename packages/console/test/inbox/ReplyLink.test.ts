import { replyLink } from "@data-cabinet/console/inbox/ReplyLink"
import type { InboxMessage } from "@data-cabinet/core/inbox/InboxMessage"
import { assert, expect, it } from "vitest"

const message = (parts: Partial<InboxMessage>): InboxMessage => ({
  eventId: 7,
  receivedAt: "2026-11-26T10:00:00Z",
  read: false,
  done: false,
  name: "Ada",
  email: "ada@example.com",
  subject: "Where is it?",
  message: "Hello\n& goodbye",
  ...parts,
})

/** The link as a mail program reads it. */
const read = (href: string) => {
  const { pathname, searchParams } = new URL(href)
  return { to: decodeURIComponent(pathname), ...Object.fromEntries(searchParams) }
}

it("replyLink quotes the message below the answer", () => {
  expect(read(replyLink(message({}), "On Monday, Ada wrote:")!)).toEqual({
    to: "ada@example.com",
    subject: "Re: Where is it?",
    body: "\r\n\r\nOn Monday, Ada wrote:\r\n> Hello\r\n> & goodbye",
  })
})

it.each([
  ["a line break in the subject", { subject: "One\r\nBcc: all@example.com" }, "Re: One Bcc: all@example.com"],
  ["an answer's subject", { subject: "Re: order" }, "Re: order"],
  ["characters that reorder others", { subject: "\u202egnp.exe" }, "Re: gnp.exe"],
])("replyLink has a subject of one line for %s", (_, parts, subject) => {
  expect(read(replyLink(message(parts), "")!)["subject" as never]).toBe(subject)
})

it.each([null, "", "nobody", "a@b.test?bcc=all@example.com", "a@b.test,c@d.test"])(
  "replyLink has no link to the address %j",
  (email) => {
    expect(replyLink(message({ email }), "")).toBeNull()
  },
)

it.each(["x", "ж", "😀", "\n", "%"])(
  "replyLink stays short for a megabyte of %j, and whole in its characters",
  (text) => {
    const href = replyLink(message({ message: text.repeat(1_000_000), subject: text.repeat(100) }), "Ada wrote:")!
    assert.isAtMost(href.length, 1_900)
    assert.isAtLeast(href.length, 1_800)
    assert.doesNotThrow(() => decodeURIComponent(href))
    assert.isTrue(href.endsWith("%E2%80%A6"))
  },
)

it("replyLink replaces half of a character, which no link can have", () => {
  expect(read(replyLink(message({ message: "a\ud83d", subject: "\udc00" }), "")!)["body" as never]).toContain(
    "> a\ufffd",
  )
})
