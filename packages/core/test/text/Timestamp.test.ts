import { isTimestamp, notATimestamp } from "@data-cabinet/core/text/Timestamp"
import { expect, it } from "vitest"

it.each([
  "2026-11-21T09:30:00Z",
  "2026-11-21T09:30Z",
  "2024-02-29T23:59:59.999999999+15:59",
  "0001-01-01T00:00:00.1-12:00",
])("isTimestamp accepts %s", (text) => {
  expect(isTimestamp(text)).toBe(true)
})

it.each([
  "",
  "2026",
  "yesterday",
  "now",
  "2026-11-21",
  "2026-11-21T09:30:00",
  "2026-02-29T09:30:00Z",
  "2026-11-21T24:00:00Z",
  "2026-11-21T09:30:60Z",
  "2026-11-21T09:30:00+16:00",
  "0000-01-01T00:00:00Z",
  "+002026-11-21T09:30:00Z",
])("isTimestamp refuses %j", (text) => {
  expect(isTimestamp(text)).toBe(false)
  expect(notATimestamp(text)).toBe(`${text} is not a time with its zone, such as 2026-11-21T09:30:00Z.`)
})
