/** One request to an intake address as bytes, and what it was found to say. */
import type { Result } from "effect"
import type { Json, JsonObject } from "../json/Json.ts"
import type { SourceEncoding } from "../source/Source.ts"
import type { Decoded } from "../text/Charset.ts"
import type { CharsetDecidedBy } from "./FormText.ts"
import type { JsonNotes, JsonSyntaxError } from "../json/ParseJson.ts"

export interface Submission {
  /** After its content encoding was undone. */
  readonly body: Uint8Array
  /** The header as sent. */
  readonly contentType: string | undefined
  /** Of the address, without `?`, escapes untouched. */
  readonly query: string
  /** The source's own setting. */
  readonly encoding: SourceEncoding | null
  /** The body as JSON, where it was read before, a piece at a time. */
  readonly json?: SentJson
}

/** A body read as JSON, well or not. */
export interface SentJson {
  readonly decoded: Decoded
  readonly notes: JsonNotes
  readonly parsed: Result.Result<Json, JsonSyntaxError>
}

export interface ParsedEvent {
  readonly payload: JsonObject
  /** As JSON. */
  readonly text: string
  /** No field is filled, or the body was refused: the event is kept, but not delivered. */
  readonly empty: boolean
  /** SHA-256 in hexadecimal; equal for repeats. */
  readonly fingerprint: string
}

export interface ParsedSubmission {
  /** At least one, unless there were too many. */
  readonly events: ReadonlyArray<ParsedEvent>
  /** Which of the two answers the sender gets: a list of objects under a JSON header has the batch's. */
  readonly shape: "object" | "batch"
  /** The sender is told 400; the body is in the one event all the same. `detail` says in words what and where. */
  readonly refusal: null | { readonly error: "bad_json" | "not_an_object"; readonly detail: string }
  /** The sender is told 413, and nothing is saved. */
  readonly tooMany: null | { readonly count: number; readonly limit: number }
  /** About how many bytes its events take in memory. */
  readonly memory: number
  /** By its content type a form, whose sender may be a person with a browser. */
  readonly isForm: boolean
  readonly charset: {
    /** Of the body; of the query where the body has no text. */
    readonly name: string
    readonly decidedBy: CharsetDecidedBy
    /** Characters of body and query that became U+FFFD. */
    readonly replaced: number
  }
}
