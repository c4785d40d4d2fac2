/** A poll: a URL that is requested at an interval, and whose new items become events of a source. */
import type { FileFormat } from "../file/FileFormat.ts"
import { mayDo, type Role } from "../key/Role.ts"
import { maskUrl } from "../network/MaskedUrl.ts"

export type PollFormat = "json" | "ndjson" | "csv"

export const POLL_FORMATS: ReadonlyArray<PollFormat> = ["json", "ndjson", "csv"]

/** A poll as listed, with only the names of its headers: their values are secrets. Times are RFC 3339 in UTC. */
export interface Poll {
  readonly id: number
  readonly sourceId: number
  readonly url: string
  readonly everySeconds: number
  /** Null: detected in every run. */
  readonly format: PollFormat | null
  /** The pointer to the list in a JSON response; empty for the whole response. */
  readonly pointer: string
  /** The field, or the pointer to it, by which an item is recognized; null: by its whole content. */
  readonly keyField: string | null
  readonly headerNames: ReadonlyArray<string>
  readonly createdAt: string
  readonly paused: boolean
  /** When the next run is due; null while paused. */
  readonly dueAt: string | null
  /** The number of failed runs since the last successful one. */
  readonly failures: number
  /** When the first run was saved, whose items count as history; null until then. */
  readonly firstAt: string | null
}

/**
 * Its URL as shown to this role, or to no role. Roles that may not change it do not see the query string, which may
 * hold a secret.
 */
export const shownPollUrl = ({ url }: Pick<Poll, "url">, role: Role | null): string =>
  role !== null && mayDo(role, "poll.change") ? url : maskUrl(url)

/** A poll to be created. */
export interface NewPoll {
  /** The source whose events the items become. */
  readonly sourceId: number
  /** An http or https URL that is public. */
  readonly url: string
  /** Seconds from one run to the next, 10 to 2,592,000 (30 days). */
  readonly everySeconds: number
  /** Null (the default): detected in every run. */
  readonly format?: PollFormat | null
  /** The JSON pointer to the list in a JSON response; default: the whole response. */
  readonly pointer?: string
  /** The field, or the pointer to it, by which an item is recognized; null (the default): by its whole content. */
  readonly keyField?: string | null
  /** Sent with every request. Values are kept secret. */
  readonly headers?: ReadonlyArray<readonly [name: string, value: string]>
}

/** Changes to a poll; missing fields stay. */
export type PollChange = Partial<Omit<NewPoll, "sourceId">>

/** A run as logged. `unchanged`: the server responded that nothing is new (304, 204 or 205). */
export interface PollRun {
  readonly id: number
  readonly pollId: number
  readonly at: string
  readonly durationMs: number
  readonly outcome: "read" | "unchanged" | "failed"
  readonly status: number | null
  readonly failure: string | null
  /** The address that the socket connected to. */
  readonly peer: string | null
  readonly bytes: number
  readonly items: number
  /** The number of new items; each becomes an event. */
  readonly fresh: number
  readonly importId: number | null
  readonly nextAt: string | null
}

/** The result of one trial request of a poll, which is not stored. */
export interface PollTrial {
  readonly status: number | null
  /** Why nothing could be read; null if it could. */
  readonly failure: string | null
  /** The address that the socket connected to. */
  readonly peer: string | null
  readonly durationMs: number
  readonly bytes: number
  readonly contentType: string | null
  /** The validators that the next run would send. */
  readonly etag: string | null
  readonly lastModified: string | null
  /** The detected format; null if unreadable. */
  readonly format: FileFormat | null
  readonly encoding: string | null
  /** The pointer to the items. */
  readonly pointer: string
  readonly keyField: string | null
  readonly items: number
  /** The number of new items, which a run would accept. */
  readonly fresh: number
  /** Whether a run would accept them as history, which is not delivered. */
  readonly history: boolean
  /** The first items. */
  readonly preview: ReadonlyArray<{
    /** JSON as text, so that no digit is lost. */
    readonly payload: string
    /** False if the text is cut. */
    readonly whole: boolean
    /** The JSON of its key; null if its whole content is the key. */
    readonly key: string | null
    readonly fresh: boolean
  }>
  /** For an unreadable response. */
  readonly beginning: string | null
}
