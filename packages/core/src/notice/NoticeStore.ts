/** Stores the source of notices and their causes, and finds the facts that decide them. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import * as Shape from "../json/Shape.ts"
import type { StoredSource } from "../source/SourceStore.ts"
import type { NoticeKey } from "./Notice.ts"
import type { StoredFacts } from "./NoticeFacts.ts"

/** The source of notices. */
export interface NoticeSource {
  readonly id: number
  readonly name: string
  readonly table: { readonly schema: string; readonly name: string } | null
  /** Whether notices are on, which means that it is not archived. */
  readonly on: boolean
  /** When notices were last switched on, RFC 3339. */
  readonly since: string
  /** The addresses that subscribe to it by name. */
  readonly addresses: ReadonlyArray<number>
}

/** A notice that was sent. */
export interface SentNotice {
  readonly eventId: number
  readonly at: string
  readonly kind: string
  readonly subject: string
  readonly message: string
}

/** A sent notice as the APIs show it. */
export const sentNoticeShape = Shape.object<SentNotice>("A notice.", {
  eventId: Shape.id("Its event.", 10417),
  at: Shape.time("When it was sent."),
  kind: Shape.text("What happened, such as `address.failing`."),
  subject: Shape.text("What it happened to, such as `address 7`."),
  message: Shape.text("A sentence for people, in English."),
})

type Returns<A> = Effect.Effect<A, StoreUnavailable>

export class NoticeStore extends Context.Service<
  NoticeStore,
  {
    /** Null if notices were never switched on, or their source was deleted. */
    readonly source: Returns<NoticeSource | null>
    /** Creates the source, or restores it from the archive. */
    readonly switchOn: (source: StoredSource) => Returns<NoticeSource>
    /** Archives the source. */
    readonly switchOff: Returns<NoticeSource | null>
    /** Newest first. */
    readonly latest: (sourceId: number, limit: number) => Returns<ReadonlyArray<SentNotice>>
    /** Whether this process should check now: notices are on, and no other process began to check recently. */
    readonly claimRound: Returns<boolean>
    readonly facts: (source: Pick<NoticeSource, "id" | "since">) => Returns<StoredFacts>
    /** Which of these causes had no notice yet. */
    readonly unsent: (keys: ReadonlyArray<NoticeKey>) => Returns<ReadonlyArray<boolean>>
    /** Ends these causes, so that they may give notices again. */
    readonly end: (keys: ReadonlyArray<NoticeKey>) => Returns<void>
  }
>()("@data-cabinet/core/notice/NoticeStore") {}
