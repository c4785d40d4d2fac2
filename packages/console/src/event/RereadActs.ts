/** The form and the act that decode the original of one event in another charset. */
import { CHARSET_NAMES } from "@data-cabinet/core/text/Charset"
import type { StoredOriginal } from "@data-cabinet/core/event/EventDetail"
import { RereadError } from "@data-cabinet/core/intake/RereadError"
import { Rereading } from "@data-cabinet/core/intake/Rereading"
import { type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { Effect } from "effect"
import { postForm } from "../html/PostForm.ts"
import { consolePath, type Frame, may } from "../html/Shell.ts"
import { act, fieldOf, idOf } from "../screen/Act.ts"
import type { ConsoleScreen } from "../screen/ConsoleScreen.ts"

/** Shown for an original that is kept whole; JSON is read again only if some of its bytes had no meaning. */
export const rereadForm = (frame: Frame, eventId: string, original: StoredOriginal): HtmlValue => {
  const { charset, charsetFrom, body, bodyBytes, replaced } = original
  if (!may(frame, "event.reread") || body.byteLength < bodyBytes) return null
  if ((charsetFrom === "json" && replaced === 0) || charsetFrom === "content_encoding") return null
  const { event: words } = frame.words
  const options = CHARSET_NAMES.filter((name) => name !== charset).map((name) => markup`<option>${name}</option>`)
  return postForm({
    path: consolePath(frame, `events/${eventId}/reread`),
    kind: "row wrap",
    body: markup`<label>${words.rereadAs} <select name="encoding"><option selected>${charset}</option>${options}</select></label><label class="choice"><input type="checkbox" name="deliver" value="yes"> ${words.rereadDeliver}</label><button>${words.reread}</button><p class="soft">${words.rereadHint}</p>`,
  })
}

export const rereadActs = Effect.gen(function* () {
  const rereading = yield* Rereading
  const screens: ReadonlyArray<ConsoleScreen> = [
    act({
      path: "/console/events/{id}/reread",
      action: "event.reread",
      home: ([id]) => `events/${id}`,
      // Rereading in the same charset changes nothing.
      repeat: "allowed",
      respond: (call) => {
        const { words } = call.frame
        const options = {
          encoding: fieldOf(call, "encoding"),
          allValues: false,
          deliver: fieldOf(call, "deliver") === "yes",
        }
        return rereading.events([idOf(call.path[0])], options).pipe(
          Effect.as(null),
          Effect.catchIf(
            (error) => error instanceof RereadError && error.reason !== undefined,
            (error) =>
              Effect.fail<ManageError>({
                code: "not_reread",
                message: words.event.notReread[(error as RereadError).reason!],
              }),
          ),
        )
      },
    }),
  ]
  return screens
})
