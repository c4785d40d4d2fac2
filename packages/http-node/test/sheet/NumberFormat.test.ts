import { assert, it } from "vitest"
import { builtInKind, codeKind } from "../../src/sheet/NumberFormat.ts"

it.each([
  ["General", "number"],
  ["0.00E+00", "number"],
  ['#,##0.00 "days"', "number"],
  ["#,##0\\ [$\u20bd-419];[Red]-#,##0\\ [$\u20bd-419]", "number"],
  ["[<=9999999]###\\-####;\\(###\\)\\ ###\\-####", "number"],
  ["0.0%", "number"],
  ["@", "number"],
  ['"day"0', "number"],
  ["", "number"],
  ["[Yellow]0;[Magenta]0;d", "number"],
  ["dd.mm.yyyy", "day"],
  ["[$-409]d\\-mmm\\-yy;@", "day"],
  ["[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy", "day"],
  ["mmm", "day"],
  ['yyyy"\u5e74"m"\u6708"d"\u65e5"', "day"],
  ["[$-411]ge.m.d", "day"],
  ["DD/MM/YYYY", "day"],
  ["m/d/yy h:mm", "moment"],
  ["yyyy-mm-dd hh:mm:ss.000", "moment"],
  ["mmm h", "moment"],
  ["h:mm", "time"],
  ["mm:ss.0", "time"],
  ["h:mm:ss AM/PM", "time"],
  ["h AM/PM", "time"],
  ['hh"h"mm', "time"],
  ["[h]:mm:ss", "span"],
  ["[HH]:MM", "span"],
  ["[mm]:ss", "span"],
  ["[s]", "span"],
] as const)("codeKind of %j is %s", (code, kind) => {
  assert.strictEqual(codeKind(code), kind)
})

it("builtInKind knows the dates, times and durations that a workbook need not define", () => {
  assert.deepStrictEqual([0, 1, 14, 17, 18, 21, 22, 31, 45, 46, 47, 49, 57, 59, 164].map(builtInKind), [
    "number",
    "number",
    "day",
    "day",
    "time",
    "time",
    "moment",
    "day",
    "time",
    "span",
    "time",
    "number",
    "day",
    "number",
    "number",
  ])
})
