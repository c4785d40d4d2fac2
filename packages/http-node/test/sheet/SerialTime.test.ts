import { assert, it } from "vitest"
import { isoText, serialText } from "../../src/sheet/SerialTime.ts"
import { durationText } from "../../src/sheet/OdsValue.ts"

it.each([
  [45352, "day", "2024-03-01"],
  [45352.395833333336, "day", "2024-03-01T09:30:00"],
  [45352.3958449074, "moment", "2024-03-01T09:30:01"],
  [45352.39583911, "moment", "2024-03-01T09:30:00.499"],
  [1, "day", "1900-01-01"],
  [59, "day", "1900-02-28"],
  [61, "day", "1900-03-01"],
  [2958465, "day", "9999-12-31"],
  [60, "day", undefined],
  [0, "day", undefined],
  [0.5, "day", undefined],
  [-1, "day", undefined],
  [2958466, "day", undefined],
  [79160000001, "day", undefined],
  [0.375, "moment", "09:00:00"],
  [0, "moment", undefined],
  [0, "time", "00:00:00"],
  [0.375, "time", "09:00:00"],
  [0.99999, "time", "23:59:59.136"],
  [1.5, "time", "36:00:00"],
  [45352.375, "time", "2024-03-01T09:00:00"],
  [-0.5, "time", undefined],
  [1.5, "span", "36:00:00"],
  [100, "span", "2400:00:00"],
  [-0.0625, "span", "-01:30:00"],
  [79160000001, "span", undefined],
] as const)("serialText of %d as a %s is %s", (serial, kind, text) => {
  assert.strictEqual(serialText(serial, kind, false), text)
})

it("serialText counts days from 1904 if the workbook does, and times as usual", () => {
  assert.strictEqual(serialText(0, "day", true), "1904-01-01")
  assert.strictEqual(serialText(43890, "day", true), "2024-03-01")
  assert.strictEqual(serialText(0.375, "time", true), "09:00:00")
  assert.strictEqual(serialText(2957004, "day", true), undefined)
})

it.each([
  ["2024-03-01", "2024-03-01"],
  ["2024-03-01T00:00:00.000", "2024-03-01"],
  ["2024-03-01T00:00:00.000Z", "2024-03-01T00:00:00Z"],
  ["2024-03-01T09:30:15.5Z", "2024-03-01T09:30:15.5Z"],
  ["2024-03-01T09:30+03:00", "2024-03-01T09:30:00+03:00"],
  ["2024-03-01T09:30:00-0330", "2024-03-01T09:30:00-0330"],
  ["2024-03-01Z", "2024-03-01Z"],
  ["09:30:00+03:00", "09:30:00+03:00"],
  ["2024-03-01T", "2024-03-01"],
  ["2024-03-01T09:30", "2024-03-01T09:30:00"],
  ["2024-03-01T09:30:15.250000000", "2024-03-01T09:30:15.25"],
  ["1899-12-30T09:30:00", "09:30:00"],
  ["T09:30:00", "09:30:00"],
  ["9:30", "09:30:00"],
  ["yesterday", "yesterday"],
])("isoText of %s is %s", (given, text) => {
  assert.strictEqual(isoText(given), text)
})

it.each([
  ["PT09H00M00S", "09:00:00"],
  ["PT36H05M", "36:05:00"],
  ["P1DT1H", "25:00:00"],
  ["-PT1H30M0.5S", "-01:30:00.5"],
  ["PT0S", "00:00:00"],
  ["P1Y", "P1Y"],
])("durationText of %s is %s", (given, text) => {
  assert.strictEqual(durationText(given), text)
})
