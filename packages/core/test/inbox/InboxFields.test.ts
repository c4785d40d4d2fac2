import { inboxFields, isEmail, looksLikeForm } from "@data-cabinet/core/inbox/InboxFields"
import { LISTED_LENGTH, messageOf, readMessage } from "@data-cabinet/core/inbox/InboxMessage"
import type { JsonObject } from "@data-cabinet/core/json/Json"
import { DEFAULT_SETTINGS } from "@data-cabinet/core/source/SourceSettings"
import { expect, it } from "vitest"

const payload = (fields: Readonly<Record<string, string>>): JsonObject => new Map(Object.entries(fields))

const LONG = "I ordered three weeks ago and have not heard from you since."

it.each([
  [
    { "your-name": "Ada", "your-email": "a@b.test", "your-subject": "Order", "your-message": "Hi" },
    { name: "your-name", email: "your-email", subject: "your-subject", message: "your-message" },
  ],
  [
    { Имя: "Ада", "E-mail": "a@b.test", Тема: "Заказ", Сообщение: "Где он?" },
    { name: "Имя", email: "E-mail", subject: "Тема", message: "Сообщение" },
  ],
  [
    { company: "Ltd", answer_to: "ada@example.com", wish: LONG },
    { name: null, email: "answer_to", subject: null, message: "wish" },
  ],
  [
    { total: "12", city: "Paris" },
    { name: null, email: null, subject: null, message: null },
  ],
])("inboxFields finds the parts of a message in %j", (fields, parts) => {
  expect(inboxFields(DEFAULT_SETTINGS, [payload(fields)])).toEqual(parts)
})

it("inboxFields uses the fields that are set, and does not guess them again for other parts", () => {
  const settings = { ...DEFAULT_SETTINGS, inboxSubject: "message", inboxName: "nick" }
  expect(inboxFields(settings, [payload({ name: "Ada", nick: "a", message: "Order", details: LONG })])).toEqual({
    name: "nick",
    email: null,
    subject: "message",
    message: "details",
  })
})

it.each([
  [["name", "email", "message"], true],
  [["Phone", "Комментарий"], true],
  [["email", "total"], false],
  [["message", "level"], false],
])("looksLikeForm judges %j as %s", (fields, expected) => {
  expect(looksLikeForm(fields)).toBe(expected)
})

it.each([
  ["ada@example.com", true],
  ["почта@пример.рф", true],
  ["a@b", false],
  ["a@b.test?bcc=all@b.test", false],
  ["a@b.test,c@d.test", false],
  ["a@b.te\u202est", false],
  ["a b@c.test", false],
])("isEmail judges %j as %s", (text, expected) => {
  expect(isEmail(text)).toBe(expected)
})

it("messageOf cuts what a list shows, never through a character, and keeps the digits of numbers", () => {
  const text = "x".repeat(LISTED_LENGTH - 1) + "😀"
  const event = `{"id":7,"received_at":"2026-11-26T10:00:00Z","payload":{"name":12345678901234567890,"message":${JSON.stringify(text)},"list":[1]}}`
  const fields = { name: "name", email: "list", subject: "missing", message: "message" }
  const whole = messageOf(readMessage(event), fields, { read: false, done: true })
  expect(whole).toEqual({
    eventId: 7,
    receivedAt: "2026-11-26T10:00:00Z",
    read: false,
    done: true,
    name: "12345678901234567890",
    email: null,
    subject: null,
    message: text,
  })
  expect(messageOf(readMessage(event), fields, whole, LISTED_LENGTH).message).toBe("x".repeat(LISTED_LENGTH - 1))
})
