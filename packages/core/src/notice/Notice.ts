/**
 * Notices: events about the cabinet itself, in a source of their own. Each cause gives one notice, however many
 * processes find it.
 */
import type { ReportedCause } from "../event/EventLog.ts"

/** docs/notices.md describes their payloads. */
export const NOTICE_KINDS = [
  "address.failing",
  "address.recovered",
  "address.paused",
  "deliveries.waiting",
  "certificate.ending",
  "client_certificate.ending",
  "feed.held",
  "poll.failing",
  "import.failed",
  "column.created",
  "type.created",
  "fields.changed",
  "source.quiet",
  "disk.filling",
] as const

/** The kind of a notice. */
export type NoticeKind = (typeof NOTICE_KINDS)[number]

/** A cause of one notice. */
export interface NoticeCause extends ReportedCause {
  readonly kind: NoticeKind
}

/** The identity of a notice. */
export type NoticeKey = Pick<NoticeCause, "kind" | "subject" | "instance">

/** New members may be added; a member never changes its meaning. */
const NOTICE_VERSION = 1

/** The members of a notice besides those that all notices have. */
export type NoticeFields = Readonly<Record<string, string | number | null | ReadonlyArray<string>>>

/** Flat, so that the table of notices has a column for each member. */
export interface NoticePayload {
  readonly kind: NoticeKind
  readonly version: typeof NOTICE_VERSION
  /** Such as `address 7`, `feed` or `disk`. */
  readonly subject: string
  /** A sentence for people. */
  readonly message: string
  /** RFC 3339; null if unknown. */
  readonly since: string | null
}

export interface Notice {
  readonly cause: NoticeCause
  readonly payload: NoticePayload & NoticeFields
}

/** The parts of a notice. */
export interface NoticeParts {
  readonly kind: NoticeKind
  /** The subject: a noun, and its number if it has one. */
  readonly about: readonly [noun: string, id?: number]
  readonly instance: string
  readonly since: string | null
  readonly ends?: boolean
  readonly message: string
  readonly fields: NoticeFields
}

export const notice = ({ kind, about, instance, since, ends = false, message, fields }: NoticeParts): Notice => {
  const [noun, id] = about
  return {
    cause: { kind, subject: id ?? 0, instance, since, ends, aboutAddress: noun === "address" ? (id ?? null) : null },
    payload: {
      kind,
      version: NOTICE_VERSION,
      subject: id === undefined ? noun : `${noun} ${id}`,
      message,
      since,
      ...fields,
    },
  }
}
