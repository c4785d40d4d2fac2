import { CommandError } from "../../src/error/CommandError.ts"
import { withHints } from "../../src/commands/Hints.ts"
import { ColumnError } from "@data-cabinet/core/row/ColumnError"
import { Effect } from "effect"
import { expect, it } from "vitest"

const refused = new ColumnError({ code: "views_depend", message: "Views depend on it." })
const hinted = <E>(error: E) =>
  Effect.runSync(Effect.flip(withHints({ views_depend: "--with-views recreates them." })(Effect.fail(error))))

it("withHints adds the flag to its own refusal", () => {
  const error = hinted(refused)
  expect(error).toBeInstanceOf(CommandError)
  expect(error).toMatchObject({ code: "refused", message: "Views depend on it. --with-views recreates them." })
})

it("withHints passes on any other error unchanged", () => {
  const other = new ColumnError({ code: "table_busy", message: "It is in use." })
  expect(hinted(other)).toBe(other)
  expect(hinted("no error at all")).toBe("no error at all")
})
