import { matchesExactly } from "@data-cabinet/core/text/ExactFormat"
import { assert, it } from "vitest"

it.each([
  [
    "numeric",
    ["0", "-1", "12.50", "1000000000000000000000"],
    ["007", "1e5", "+1", ".5", "1.", " 1", "1 ", "", "NaN", "1,5", "٣"],
  ],
  ["boolean", ["true", "false"], ["True", "1", "yes", ""]],
  ["date", ["2026-02-28", "2024-02-29"], ["2026-02-29", "2026-02-30", "0000-01-01", "2026-1-1", "28.02.2026"]],
  [
    "timestamptz",
    ["2026-02-28T10:00:00Z", "2026-02-28 10:00+03:00", "2026-02-28T10:00:00.123456Z"],
    ["2026-02-28T10:00:00", "2026-02-30T10:00:00Z", "2026-02-28T24:00:00Z"],
  ],
  ["text", ["", "anything"], []],
  ["jsonb", [], ["{}", "1"]],
] as const)("matchesExactly accepts for %s only its exact spelling", (kind, yes, no) => {
  for (const text of yes) assert.isTrue(matchesExactly(text, kind), text)
  for (const text of no) assert.isFalse(matchesExactly(text, kind), text)
})
