/** A poll: an address that is asked at an interval, and whose new items become events of a source. */

export type PollFormat = "json" | "ndjson" | "csv"

export const POLL_FORMATS: ReadonlyArray<PollFormat> = ["json", "ndjson", "csv"]

/** A poll as lists show it: of its headers the names alone, since their values are secrets. Times are RFC 3339 in UTC. */
export interface Poll {
  readonly id: number
  readonly sourceId: number
  readonly url: string
  readonly everySeconds: number
  /** Null: found out, at every run. */
  readonly format: PollFormat | null
  /** Where the list stands in a JSON answer; empty for the whole. */
  readonly pointer: string
  /** The field, or the pointer to it, by which an item is known again; null: by its whole content. */
  readonly keyField: string | null
  readonly headerNames: ReadonlyArray<string>
  readonly createdAt: string
  readonly paused: boolean
  /** When the next run is due; null while paused. */
  readonly dueAt: string | null
  /** Failed runs since the last good one. */
  readonly failures: number
  /** When the first run was kept, whose items are history; null until then. */
  readonly firstAt: string | null
}

/** A poll to be made. */
export interface NewPoll {
  /** Whose events the items become. */
  readonly sourceId: number
  /** An http or https address that is public. */
  readonly url: string
  /** Seconds from one run to the next, 10 to 2,592,000 (30 days). */
  readonly everySeconds: number
  /** Null, and by default: found out at every run. */
  readonly format?: PollFormat | null
  /** Where the list stands in a JSON answer, as a JSON pointer; by default it is the whole. */
  readonly pointer?: string
  /** The field, or the pointer to it, by which an item is known again; null, and by default: by its whole content. */
  readonly keyField?: string | null
  /** Sent with every request. Values are kept secret. */
  readonly headers?: ReadonlyArray<readonly [name: string, value: string]>
}

/** One run, as the log keeps it. `unchanged`: the other side said that nothing is new (304). */
export interface PollRun {
  readonly id: number
  readonly pollId: number
  readonly at: string
  readonly durationMs: number
  readonly outcome: "read" | "unchanged" | "failed"
  readonly status: number | null
  readonly failure: string | null
  /** The address that was connected to. */
  readonly peer: string | null
  readonly bytes: number
  readonly items: number
  /** Items that were not seen before: each is an event. */
  readonly fresh: number
  readonly importId: number | null
  readonly nextAt: string | null
}
