import { refusalText, toolRefusal } from "@data-cabinet/core/agent/ToolRefusal"
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { expect, it } from "vitest"

it("refusalText ends with a code, after a sentence and when to try again", () => {
  expect(refusalText(toolRefusal("bad_param", "limit is too large"))).toBe("limit is too large. (bad_param)")
  expect(refusalText(toolRefusal("bad_param", "1.5 is too much"))).toBe("1.5 is too much. (bad_param)")
  for (const end of [".", "!", "?"])
    expect(refusalText(toolRefusal("bad_param", `No${end}`))).toBe(`No${end} (bad_param)`)
  expect(refusalText(toolRefusal("rate_limited", "Too many.", 42))).toBe("Too many. Try again in 42 s. (rate_limited)")
  const away = new StoreUnavailable({ message: "away", retryAfter: 1, outcomeUnknown: false })
  expect(refusalText(away)).toMatch(/^away\. Try again in 1 s\. \(\w+\)$/)
})
