/** A poll: a URL that is requested at an interval, and whose new items become events of a source. */
import { Schema } from "effect"
import { FILE_FORMATS } from "../file/FileFormat.ts"
import { flag, id, jsonObject, jsonOf, list, oneOf, orNull, text, time, whole } from "../json/JsonObject.ts"
import { mayDo, type Role } from "../key/Role.ts"
import { maskUrl } from "../network/MaskedUrl.ts"

export type PollFormat = "json" | "ndjson" | "csv"

export const POLL_FORMATS: ReadonlyArray<PollFormat> = ["json", "ndjson", "csv"]

/** Times are RFC 3339 in UTC. Of its headers only the names are shown, because their values are secrets. */
export const Poll = jsonObject(
  {
    id: id("The poll's id."),
    sourceId: id("The source's id."),
    url: text("What is requested."),
    everySeconds: whole("Seconds from one run to the next."),
    format: orNull(oneOf(POLL_FORMATS, "The format of its responses; null: detected in every run.")),
    pointer: text("The JSON pointer to the list; empty: the whole response."),
    keyField: orNull(text("What an item is recognized by; null: its whole content.")),
    headerNames: list(Schema.String, "Their values are secret."),
    createdAt: time("When it was added."),
    paused: flag("Whether it is paused."),
    dueAt: orNull(time("When it runs next; null while paused.")),
    failures: whole("Failed runs since the last good one."),
    firstAt: orNull(time("When its first run was kept, whose items are history; null until then.")),
  },
  "A poll.",
)
export type Poll = typeof Poll.Type

export const pollJson = jsonOf(Poll)

/** Its URL for somebody with this role, or with none: the query string is a secret for whoever may not change it. */
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
  /** The JSON pointer to the list in a JSON response; by default the whole response. */
  readonly pointer?: string
  /** The field, or the pointer to it, by which an item is recognized; null (the default): by its whole content. */
  readonly keyField?: string | null
  /** Sent with every request. Values are kept secret. */
  readonly headers?: ReadonlyArray<readonly [name: string, value: string]>
}

/** What changes of a poll; what is left out stays. */
export type PollChange = Partial<Omit<NewPoll, "sourceId">>

export const PollRun = jsonObject(
  {
    id: id("The run's id."),
    pollId: id("The poll's id."),
    at: time("When it began."),
    durationMs: whole("How long it took."),
    outcome: oneOf(["read", "unchanged", "failed"], "Unchanged: the server responded that nothing is new (304)."),
    status: orNull(whole("The status of the response.")),
    failure: orNull(text("Why it failed; else null.")),
    peer: orNull(text("The address that was connected to.")),
    bytes: whole("The size of the response."),
    items: whole("How many items it had."),
    fresh: whole("How many were not seen before: each becomes an event."),
    importId: orNull(id("The import of the new items; else null.")),
    nextAt: orNull(time("When it runs next.")),
  },
  "One run of a poll.",
)
export type PollRun = typeof PollRun.Type

export const pollRunJson = jsonOf(PollRun)

export const PollTrial = jsonObject(
  {
    status: orNull(whole("The status of the response; null: there was none.")),
    failure: orNull(text("Why nothing could be read; else null.")),
    peer: orNull(text("The address that was connected to.")),
    durationMs: whole("How long it took."),
    bytes: whole("The size of the response."),
    contentType: orNull(text("Its `Content-Type`.")),
    etag: orNull(text("Its `ETag`, with which the next run would ask whether something is new.")),
    lastModified: orNull(text("Its `Last-Modified`, for the same.")),
    format: orNull(oneOf(FILE_FORMATS, "As it was read; null if it could not be.")),
    encoding: orNull(text("The charset that it was read in.")),
    pointer: text("The JSON pointer to the list; empty: the whole response."),
    keyField: orNull(text("What an item is recognized by; null: its whole content.")),
    items: whole("How many items it had."),
    fresh: whole("How many of them a run would take, because they were not seen before."),
    history: flag("Whether a run would take them as history, which is not delivered."),
    preview: list(
      jsonObject(
        {
          payload: text("The item as JSON text, so that no digit is lost; cut after 10,000 characters."),
          whole: flag("Whether it is not cut."),
          key: orNull(text("The JSON text of what it is recognized by; null: its whole content.")),
          fresh: flag("Whether it was not seen before."),
        },
        "An item.",
      ),
      "The first items, at most 5.",
    ),
    beginning: orNull(text("The beginning of a response that could not be read; else null.")),
  },
  "What one request of a poll brought. Nothing of it is kept.",
)
export type PollTrial = typeof PollTrial.Type

export const pollTrialJson = jsonOf(PollTrial)
