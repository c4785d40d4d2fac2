/** Rebuilds of a remote cabinet's tables. Its server runs them; here they are followed. */
import { RebuildError } from "@data-cabinet/core/row/RebuildError"
import type { RebuildState } from "@data-cabinet/core/row/RebuildState"
import type { RebuildPreview, RebuildWishes } from "@data-cabinet/core/row/RebuildStore"
import { TableRebuild } from "@data-cabinet/core/row/TableRebuild"
import { Effect, Layer, Schema } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { ofCodes, refusedAs } from "../http/RemoteRefusal.ts"

const known = ofCodes(RebuildError)
const isCode = Schema.is(RebuildError.fields.code)

const POLL = "500 millis"

const bodyOf = ({ columns, withoutEmpty, nestBrackets }: RebuildWishes): object => ({
  columns,
  without_empty: withoutEmpty,
  nest_brackets: nestBrackets,
})

const errorOf = ({ code, message }: RebuildState): RebuildError =>
  new RebuildError({ code: isCode(code) ? code : "rebuild_ended", message: message ?? "The rebuild has ended." })

export const layer = Layer.effect(
  TableRebuild,
  Effect.map(ManageApi, (api) => {
    const path = (id: number, ...more: ReadonlyArray<string>) => ["sources", id, "rebuild", ...more]
    const start = (id: number, wishes: RebuildWishes) =>
      refusedAs(api.json<RebuildState>({ method: "POST", path: path(id), body: bodyOf(wishes) }), known)
    const state = (id: number) => refusedAs(api.json<RebuildState>({ method: "GET", path: path(id) }), known)
    const cancel = (id: number) =>
      Effect.map(
        refusedAs(
          api.json<{ readonly cancelled: boolean }>({ method: "POST", path: path(id, "cancel"), body: {} }),
          known,
        ),
        ({ cancelled }) => cancelled,
      )
    return TableRebuild.of({
      plan: (id, wishes) =>
        refusedAs(api.json<RebuildPreview>({ method: "POST", path: path(id, "preview"), body: bodyOf(wishes) }), known),
      run: Effect.fnUntraced(function* (id, wishes, report = () => Effect.void) {
        let now = yield* start(id, wishes)
        const begun = now.startedAt
        const follow = Effect.gen(function* () {
          while (now.state === "running") {
            yield* report(now)
            yield* Effect.sleep(POLL)
            now = yield* state(id)
            // Somebody else has started another one since.
            if (now.startedAt !== begun) {
              return yield* new RebuildError({ code: "rebuild_ended", message: "Another rebuild has begun since." })
            }
          }
          return now.result === null ? yield* errorOf(now) : now.result
        })
        return yield* Effect.onInterrupt(follow, () => Effect.ignore(cancel(id)))
      }),
      start,
      state,
      cancel,
    })
  }),
)
