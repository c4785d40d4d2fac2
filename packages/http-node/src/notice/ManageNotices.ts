/** Notices over the management API: switched on and off, and the latest. */
import { Notices, noticeStateShape } from "@data-cabinet/core/notice/Notices"
import { Effect, Schema } from "effect"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import { one } from "../manage/ManageResponses.ts"

const switched = Schema.Struct({ on: Schema.Boolean.annotate({ description: "Whether notices are on." }) })

export const manageNotices = Effect.map(Notices, (notices) => [
  manageEndpoint({
    id: "getNotices",
    tag: "Events",
    method: "GET",
    path: "/manage/v1/notices",
    summary: "Notices of the cabinet",
    description:
      "Whether they are on, the source whose events they are, the addresses subscribed to it, and the latest of them.",
    action: "notices.read",
    response: one(noticeStateShape, "Notices."),
    respond: () => Effect.map(notices.show, noticeStateShape.json),
  }),
  manageEndpoint({
    id: "setNotices",
    tag: "Events",
    method: "PUT",
    path: "/manage/v1/notices",
    summary: "Switch notices on or off",
    description:
      "On: their source is created, or taken out of the archive. Off: it is archived; its events, its table and its subscriptions stay.",
    action: "notices.change",
    body: switched,
    response: one(noticeStateShape, "Notices."),
    respond: ({ body: { on } }) => Effect.map(on ? notices.switchOn() : notices.switchOff(), noticeStateShape.json),
  }),
])
