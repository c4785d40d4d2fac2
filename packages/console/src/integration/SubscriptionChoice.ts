/** The sources whose events an address receives, as a choice in a form: all, including later ones, or selected ones. */
import type { Subscription } from "@data-cabinet/core/delivery/Address"
import type { Source } from "@data-cabinet/core/source/Source"
import { Html, markup } from "@data-cabinet/http-node/html/Html"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { Effect } from "effect"
import type { Frame } from "../html/Shell.ts"
import { fieldOf, fieldsOf, idOf } from "../screen/Act.ts"
import type { FormCall } from "../screen/ConsoleScreen.ts"

const checked = (is: boolean) => is && new Html(" checked")

export const subscriptionChoice = (frame: Frame, sources: ReadonlyArray<Source>, chosen: Subscription): Html => {
  const { integration: words } = frame.words
  const all = chosen === "all"
  return markup`<fieldset><legend>${words.subscribesTo}</legend><label class="choice"><input type="radio" name="scope" value="all"${checked(all)}> ${words.allSources}</label>
<label class="choice"><input type="radio" name="scope" value="some"${checked(!all)}> ${words.theseSources}</label><div class="scroll inset">${sources.map(
    ({ id, name }) =>
      markup`<label class="choice"><input type="checkbox" name="source" value="${id}"${checked(chosen !== "all" && chosen.includes(id))}> <bdi>${name}</bdi></label>`,
  )}</div></fieldset>`
}

/** The chosen sources. A form without a choice is refused, because any guess could send too much or too little. */
export const subscriptionOf = (call: FormCall): Effect.Effect<Subscription, ManageError> => {
  const mode = fieldOf(call, "scope")
  const marked = fieldsOf(call, "source").map(idOf)
  if (mode === "all") return Effect.succeed("all")
  if (mode === "some" && marked.length > 0) return Effect.succeed(marked)
  const message = "Choose all sources, or mark at least one."
  return Effect.fail({ code: "bad_param", message, param: "source" })
}
