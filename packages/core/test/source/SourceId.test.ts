import { parseSourceId } from "@data-cabinet/core/source/SourceId"
import { expect, it } from "vitest"

it.each<[string, number | "malformed" | "unknown"]>([
  ["1", 1],
  ["007", 7],
  ["9007199254740991", Number.MAX_SAFE_INTEGER],
  ["9007199254740992", "unknown"],
  ["9223372036854775807", "unknown"],
  ["9223372036854775808", "malformed"],
  ["0", "malformed"],
  ["", "malformed"],
  ["-1", "malformed"],
  ["1.0", "malformed"],
  ["1e3", "malformed"],
  [" 1", "malformed"],
  ["1\n", "malformed"],
  ["0x1", "malformed"],
  ["٣", "malformed"],
  ["1".repeat(20), "malformed"],
])("parseSourceId of %j is %s", (text, id) => {
  expect(parseSourceId(text)).toBe(id)
})
