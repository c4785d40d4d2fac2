/** The lifetime of a key or a token, as a choice in a form. */
import { parseLifetime } from "@data-cabinet/core/key/Lifetime"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { type Html, markup } from "@data-cabinet/http-node/html/Html"
import { Effect } from "effect"
import { options } from "../html/Choice.ts"
import type { Frame } from "../html/Shell.ts"
import { fieldOf } from "../screen/Act.ts"
import type { FormCall } from "../screen/ConsoleScreen.ts"

const LIFETIMES = ["1d", "30d", "90d", "365d"] as const

/** Without a label around it. */
export const lifetimeSelect = ({ words: { people: words } }: Frame): Html =>
  markup`<select name="lifetime" aria-label="${words.lifetime}">${options([["", words.forEver], ...LIFETIMES.map((one) => [one, words.days(Number.parseInt(one, 10))] as const)], "")}</select>`

/** Null for a credential that does not expire. */
export const lifetimeOf = (call: FormCall): Effect.Effect<number | null, ManageError> => {
  const text = fieldOf(call, "lifetime")
  const seconds = text === "" ? null : parseLifetime(text)
  if (text === "" || seconds !== null) return Effect.succeed(seconds)
  return Effect.fail({
    code: "bad_expiry",
    message: "A lifetime must be such as 90d, 12h or 30m, and at most ten years.",
    param: "lifetime",
  })
}
