/** A poll: a URL that is requested at an interval, and whose new items become events of a source. */
import { type Doubt, doubtShape } from "../file/Doubt.ts"
import { FILE_FORMATS, type FileFormat } from "../file/FileFormat.ts"
import * as Shape from "../json/Shape.ts"
import { mayDo, type Role } from "../key/Role.ts"
import { maskUrl } from "../network/MaskedUrl.ts"
import { POLL_SETTINGS, type PollSettings } from "./PollSettings.ts"

/** A poll as listed, with only the names of its headers: their values are secrets. Times are RFC 3339 in UTC. */
export interface Poll extends PollSettings {
  readonly id: number
  readonly sourceId: number
  readonly url: string
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

/** The poll's JSON and its description. */
export const pollShape = Shape.named(
  "Poll",
  Shape.object<Poll>("A poll.", {
    id: Shape.id("The poll's id."),
    sourceId: Shape.id("The source's id."),
    url: Shape.text("The requested URL."),
    ...POLL_SETTINGS.shapes,
    headerNames: Shape.list(Shape.text(), "Their values are secret."),
    createdAt: Shape.time("When it was added."),
    paused: Shape.flag("Whether it is paused."),
    dueAt: Shape.orNull(Shape.time("When it runs next; null while paused.")),
    failures: Shape.whole("Failed runs since the last good one."),
    firstAt: Shape.orNull(Shape.time("When its first run was kept; null until then.")),
  }),
)

/**
 * Its URL as shown to this role, or to no role. Roles that may not change it do not see the query string, which may
 * hold a secret.
 */
export const shownPollUrl = ({ url }: Pick<Poll, "url">, role: Role | null): string =>
  role !== null && mayDo(role, "poll.change") ? url : maskUrl(url)

/** A poll to be created; missing settings have their defaults. */
export interface NewPoll extends Partial<PollSettings> {
  /** The source whose events the items become. */
  readonly sourceId: number
  /** An http or https URL that is public. */
  readonly url: string
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
  /** Parts that were read, but deserve a look. */
  readonly doubts: ReadonlyArray<Doubt>
  readonly nextAt: string | null
}

/** The run's JSON and its description. */
export const pollRunShape = Shape.named(
  "PollRun",
  Shape.object<PollRun>("One run of a poll.", {
    id: Shape.id("The run's id."),
    pollId: Shape.id("The poll's id."),
    at: Shape.time("When it began."),
    durationMs: Shape.whole("How long it took."),
    outcome: Shape.oneOf(["read", "unchanged", "failed"]),
    status: Shape.orNull(Shape.whole("The status of the response.")),
    failure: Shape.orNull(Shape.text("Why it failed; else null.")),
    peer: Shape.orNull(Shape.text("The address that was connected to.")),
    bytes: Shape.whole("The size of the response."),
    items: Shape.whole("How many items it had."),
    fresh: Shape.whole("How many were new."),
    importId: Shape.orNull(Shape.id("The import of the new items; else null.")),
    doubts: Shape.list(doubtShape, "What was read, but deserves a look."),
    nextAt: Shape.orNull(Shape.time("When it runs next.")),
  }),
)

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
  /** Parts that were read, but deserve a look. */
  readonly doubts: ReadonlyArray<Doubt>
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

/** The trial's JSON and its description. */
export const pollTrialShape = Shape.named(
  "PollTrial",
  Shape.object<PollTrial>("What one request of a poll brought. Nothing of it is kept.", {
    status: Shape.orNull(Shape.whole("The status of the response; null: there was none.")),
    failure: Shape.orNull(Shape.text("Why nothing could be read; else null.")),
    peer: Shape.orNull(Shape.text("The address that was connected to.")),
    durationMs: Shape.whole("How long it took."),
    bytes: Shape.whole("The size of the response."),
    contentType: Shape.orNull(Shape.text("Its `Content-Type`.")),
    etag: Shape.orNull(Shape.text("Its `ETag`, with which the next run would ask whether something is new.")),
    lastModified: Shape.orNull(Shape.text("Its `Last-Modified`, for the same.")),
    format: Shape.orNull(Shape.oneOf(FILE_FORMATS, "As it was read; null if it could not be.")),
    encoding: Shape.orNull(Shape.text("The charset that it was read in.")),
    pointer: Shape.text("The JSON pointer to the list; empty: the whole response."),
    keyField: Shape.orNull(Shape.text("What an item is recognized by; null: its whole content.")),
    items: Shape.whole("How many items it had."),
    fresh: Shape.whole("How many of them a run would take, because they were not seen before."),
    doubts: Shape.list(doubtShape, "What was read, but deserves a look."),
    history: Shape.flag("Whether a run would take them as history, which is not delivered."),
    preview: Shape.list(
      Shape.object<PollTrial["preview"][number]>("An item.", {
        payload: Shape.text("The item as JSON text, so that no digit is lost; cut after 10,000 characters."),
        whole: Shape.flag("Whether it is not cut."),
        key: Shape.orNull(Shape.text("The JSON text of its key; null: its whole content is the key.")),
        fresh: Shape.flag("Whether it was not seen before."),
      }),
      "The first items, at most 5.",
    ),
    beginning: Shape.orNull(Shape.text("The beginning of a response that could not be read; else null.")),
  }),
)
