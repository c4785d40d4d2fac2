/** The notices of a remote cabinet. */
import { type NoticeState, Notices } from "@data-cabinet/core/notice/Notices"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { refusalAsDefect } from "../http/RemoteRefusal.ts"

export const layer = Layer.effect(
  Notices,
  Effect.map(ManageApi, (api) => {
    const switched = (on: boolean) =>
      refusalAsDefect(api.json<NoticeState>({ method: "PUT", path: ["notices"], body: { on } }))
    return Notices.of({
      show: refusalAsDefect(api.json<NoticeState>({ method: "GET", path: ["notices"] })),
      switchOn: () => switched(true),
      switchOff: () => switched(false),
    })
  }),
)
