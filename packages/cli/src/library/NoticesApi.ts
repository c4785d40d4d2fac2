/** Notices of the cabinet, with promises. */
import { type NoticeState, Notices } from "@data-cabinet/core/notice/Notices"
import type { SentNotice } from "@data-cabinet/core/notice/NoticeStore"
import type { Run } from "./RunEffect.ts"

export type { NoticeState, SentNotice }

/** Notices of what happens in the cabinet, as events of a source of their own. */
export interface NoticesApi {
  /** Whether notices are on, their source, the addresses subscribed to it by name, and the latest 20. */
  readonly show: () => Promise<NoticeState>
  /** Creates their source, or restores it from the archive. */
  readonly on: () => Promise<NoticeState>
  /** Archives their source: its events, its table and its subscriptions stay. */
  readonly off: () => Promise<NoticeState>
}

/** Builds the methods of `cabinet.notices`. */
export const noticesApi = (run: Run): NoticesApi => ({
  show: () => run(Notices.use(({ show }) => show)),
  on: () => run(Notices.use((notices) => notices.switchOn())),
  off: () => run(Notices.use((notices) => notices.switchOff())),
})
