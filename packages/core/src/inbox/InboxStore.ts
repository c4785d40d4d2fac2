/** Stores what people mark on messages, separately from the events, which stay as they were sent. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { MessageMarks } from "./InboxMessage.ts"

/** A day of an inbox. */
export interface InboxDay {
  /** `YYYY-MM-DD`, in the cabinet's time zone. */
  readonly day: string
  readonly messages: number
  /** How many of the messages are neither read nor done. */
  readonly unread: number
  /** Spam, by its reason. */
  readonly honeypot: number
  readonly origin: number
  /** Without a valid proof of a person. */
  readonly proof: number
}

/** An inbox by days, oldest first, today last. */
export interface InboxFigures {
  readonly days: ReadonlyArray<InboxDay>
  /** The time (RFC 3339) from which all were counted, if there were too many to count; null: all days are whole. */
  readonly since: string | null
}

/** What a request to mark messages did. */
export interface MarkResult {
  /** The number of messages whose marks changed. */
  readonly changed: number
  /** Those that are not messages of the source, or are in the trash; if there are any, nothing changed. */
  readonly missing: ReadonlyArray<number>
}

export class InboxStore extends Context.Service<
  InboxStore,
  {
    /** The marks of events; one without an entry has none. */
    readonly marks: (
      events: ReadonlyArray<number>,
    ) => Effect.Effect<ReadonlyMap<number, MessageMarks>, StoreUnavailable>
    /** Sets the given marks, and leaves the others. */
    readonly mark: (
      sourceId: number,
      events: ReadonlyArray<number>,
      marks: Partial<MessageMarks>,
    ) => Effect.Effect<MarkResult, StoreUnavailable>
    /** The first fields of the newest sources that have a field with such a name among them, ignoring case. */
    readonly fields: (
      names: ReadonlyArray<string>,
    ) => Effect.Effect<ReadonlyMap<number, ReadonlyArray<string>>, StoreUnavailable>
    /** Counts at most `most` of the latest events. */
    readonly figures: (query: {
      readonly sourceId: number
      readonly days: number
      readonly timeZone: string
      readonly most: number
    }) => Effect.Effect<InboxFigures, StoreUnavailable>
  }
>()("@data-cabinet/core/inbox/InboxStore") {}
