/** One request to an intake address as bytes, and the result of parsing it. */
import type { Result } from "effect"
import type { Json, JsonObject } from "../json/Json.ts"
import type { SourceEncoding } from "../source/SourceSettings.ts"
import type { Decoded } from "../text/Charset.ts"
import type { CharsetDecidedBy } from "../text/Charset.ts"
import type { JsonLines } from "./JsonLines.ts"
import type { JsonNotes, JsonSyntaxError } from "../json/ParseJson.ts"
import type { OtherReading } from "../event/OtherReadings.ts"

export interface Submission {
  /** With its content encoding removed. */
  readonly body: Uint8Array
  /** The header as sent. */
  readonly contentType: string | undefined
  /** The URL's query string without `?`, still percent-encoded. */
  readonly query: string
  /** The source's setting. */
  readonly encoding: SourceEncoding | null
  /** Whether the fields of a form are nested by the brackets in their names; false if absent. */
  readonly nestBrackets?: boolean
  /**
   * The fields of a proof of a person, the proof itself first: those of the body are not part of its events. Absent if the
   * source demands none.
   */
  readonly proofFields?: ReadonlyArray<string>
  /** Fields of the events that come from the request's headers. They do not count when bodies are compared. */
  readonly headerFields?: JsonObject
  /** The body as JSON, if it was parsed before, in pieces. */
  readonly json?: SentJson
  /** The body as lines of JSON, if they were read before, in pieces. */
  readonly lines?: JsonLines
}

/** A body parsed as JSON, with or without success. */
export interface SentJson {
  readonly decoded: Decoded
  readonly notes: JsonNotes
  readonly parsed: Result.Result<Json, JsonSyntaxError>
}

/** An event parsed from a submission. */
export interface ParsedEvent {
  readonly payload: JsonObject
  /** As JSON. */
  readonly text: string
  /** No field is filled, or the body was refused: the event is stored, but not delivered. */
  readonly empty: boolean
  /** SHA-256 in hexadecimal; equal for repeats. */
  readonly fingerprint: string
}

/** The result of parsing a submission. */
export interface ParsedSubmission {
  /** At least one, unless there were too many. */
  readonly events: ReadonlyArray<ParsedEvent>
  /**
   * Which response the sender gets: lists of objects under a JSON content type, and lines of JSON, get the response for
   * a batch.
   */
  readonly shape: "object" | "batch"
  /** The sender gets a 400; the body is stored in the one event regardless. `detail` says what is wrong and where. */
  readonly refusal: null | { readonly error: "bad_json" | "not_an_object"; readonly detail: string }
  /** The sender gets a 413, and nothing is stored. */
  readonly tooMany: null | { readonly count: number; readonly limit: number }
  /** The proof that came with the only event, as sent; absent without one, and with several events. */
  readonly proof?: Json
  /** Estimated bytes of memory that its events take. */
  readonly memory: number
  /** Whether the content type is a form's; its sender may be a person with a browser. */
  readonly isForm: boolean
  readonly charset: {
    /** The charset of the body, or of the query if the body has no text. */
    readonly name: string
    readonly decidedBy: CharsetDecidedBy
    /** How many characters of body and query became U+FFFD. */
    readonly replaced: number
    /** Absent if all values were read in the one charset. */
    readonly others?: ReadonlyArray<OtherReading>
  }
}
