/** Days of the cabinet's time zone, also those on which clocks change. */
import { dayStart, localTime } from "@data-cabinet/core/agent/CabinetDay"
import { expect, it } from "vitest"

it.each([
  ["UTC", "2026-11-29", "2026-11-29T00:00:00.000Z"],
  ["Europe/Berlin", "2026-11-29", "2026-11-28T23:00:00.000Z"],
  ["Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00.000Z"],
  ["Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00.000Z"],
  ["America/New_York", "2026-11-01", "2026-11-01T04:00:00.000Z"],
  ["America/New_York", "2026-11-02", "2026-11-02T05:00:00.000Z"],
  ["Pacific/Auckland", "2026-04-05", "2026-04-04T11:00:00.000Z"],
  ["Asia/Kathmandu", "2026-01-01", "2025-12-31T18:15:00.000Z"],
])("in %s the day %s begins at %s", (zone, day, start) => {
  expect(dayStart(zone, day)).toBe(start)
  expect(localTime(zone, Date.parse(start))).toMatch(new RegExp(`^${day}T00:00:00[+-]`))
})

it.each(["2026-02-30", "2026-13-01", "2026-11-29T00:00:00Z", "today", "", "now"])("%j is no day", (text) => {
  expect(dayStart("Europe/Berlin", text)).toBeUndefined()
})

it("localTime has the zone's offset", () => {
  expect(localTime("Europe/Berlin", Date.parse("2026-11-29T09:00:00Z"))).toBe("2026-11-29T10:00:00+01:00")
  expect(localTime("America/St_Johns", Date.parse("2026-11-29T02:00:00.5Z"))).toBe("2026-11-28T22:30:00-03:30")
  expect(localTime("UTC", 0)).toBe("1970-01-01T00:00:00+00:00")
})
