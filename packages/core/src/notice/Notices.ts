/** Switches notices on and off, and shows where they go. */
import { Context, Effect, Layer } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import * as Shape from "../json/Shape.ts"
import { readableName } from "../row/ReadableName.ts"
import { DEFAULT_SETTINGS } from "../source/SourceSettings.ts"
import type { StoredSource } from "../source/SourceStore.ts"
import { type NoticeSource, NoticeStore, type SentNotice, sentNoticeShape } from "./NoticeStore.ts"

/** Whether notices are on, and where they go. */
export interface NoticeState {
  readonly on: boolean
  /** When they were last switched on, RFC 3339; null if never, or if their source was deleted. */
  readonly since: string | null
  readonly source: Pick<NoticeSource, "id" | "name" | "table"> | null
  /** The addresses that subscribe to the source by name. */
  readonly addresses: ReadonlyArray<number>
  /** Newest first. */
  readonly latest: ReadonlyArray<SentNotice>
}

type ShownSource = NonNullable<NoticeState["source"]>

/** A notice state as the APIs show it. */
export const noticeStateShape = Shape.named(
  "NoticeState",
  Shape.object<NoticeState>("Notices.", {
    on: Shape.flag("Whether notices are on."),
    since: Shape.orNull(
      Shape.time("When they were switched on last; null if they never were, or their source was deleted."),
    ),
    source: Shape.orNull(
      Shape.object<ShownSource>("The source whose events they are; null as above.", {
        id: Shape.id("The source's id.", 5),
        name: Shape.text("The source's name."),
        table: Shape.orNull(
          Shape.object<NonNullable<ShownSource["table"]>>("Its table.", {
            schema: Shape.text("The schema."),
            name: Shape.text("The table."),
          }),
        ),
      }),
    ),
    addresses: Shape.list(
      Shape.id("An address's id.", 2),
      "The addresses that are subscribed to the source by name: none of them has notices of its own.",
    ),
    latest: Shape.list(sentNoticeShape, "The newest 20, newest first."),
  }),
)

const LATEST = 20

const NOTICE_SOURCE: StoredSource = {
  name: "Notices",
  ...DEFAULT_SETTINGS,
  verify: null,
  challenge: null,
  proof: null,
  tableName: (taken) => readableName("Notices", taken, "source"),
}

type Returns = Effect.Effect<NoticeState, StoreUnavailable>

export class Notices extends Context.Service<
  Notices,
  {
    readonly show: Returns
    /** Creates their source, or restores it from the archive. If they are on already, nothing changes. */
    readonly switchOn: () => Returns
    /** Archives their source: its events, its table and its subscriptions stay. */
    readonly switchOff: () => Returns
  }
>()("@data-cabinet/core/notice/Notices") {
  static readonly layer = Layer.effect(
    Notices,
    Effect.map(NoticeStore, (store) => {
      const stateOf = Effect.fnUntraced(function* (source: NoticeSource | null) {
        if (source === null) return NEVER
        const { id, name, table, on, since, addresses } = source
        const latest = yield* store.latest(id, LATEST)
        return { on, since, source: { id, name, table }, addresses, latest } satisfies NoticeState
      })
      return Notices.of({
        show: Effect.flatMap(store.source, stateOf),
        switchOn: () => Effect.flatMap(store.switchOn(NOTICE_SOURCE), stateOf),
        switchOff: () => Effect.flatMap(store.switchOff, stateOf),
      })
    }),
  )
}

const NEVER: NoticeState = { on: false, since: null, source: null, addresses: [], latest: [] }
