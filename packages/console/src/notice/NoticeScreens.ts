/** The screen of notices, and the acts that switch them on and off. */
import { Notices } from "@data-cabinet/core/notice/Notices"
import { Effect } from "effect"
import { ConsoleSettings } from "../ConsoleSettings.ts"
import { act } from "../screen/Act.ts"
import type { ConsoleScreen } from "../screen/ConsoleScreen.ts"
import { noticeScreen } from "./NoticeScreen.ts"

export const noticeScreens = Effect.gen(function* () {
  const notices = yield* Notices
  const { timeZone } = yield* ConsoleSettings
  const home = () => "notices"
  const screens: ReadonlyArray<ConsoleScreen> = [
    {
      path: "/console/notices",
      action: "notices.read",
      get: ({ frame }) => Effect.map(notices.show, (state) => ({ screen: noticeScreen(frame, state, timeZone) })),
    },
    act({
      path: "/console/notices/on",
      action: "notices.change",
      home,
      repeat: "allowed",
      respond: () => Effect.as(notices.switchOn(), null),
    }),
    act({
      path: "/console/notices/off",
      action: "notices.change",
      home,
      repeat: "allowed",
      respond: () => Effect.as(notices.switchOff(), null),
    }),
  ]
  return screens
})
