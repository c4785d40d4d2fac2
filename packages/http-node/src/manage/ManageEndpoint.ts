/**
 * The declaration of an endpoint of the management API. As in the read API, the same value guards requests and is described:
 * its method, the action whose role it needs, its parameters, its body and its response.
 */
import type { Action } from "@data-cabinet/core/key/Role"
import type { KeyedWork } from "@data-cabinet/core/idempotency/Idempotency"
import type { Actor } from "@data-cabinet/core/audit/Actor"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import type { LiveSession } from "@data-cabinet/core/person/Person"
import type { Effect, Schema } from "effect"
import type { Components, JsonSchema } from "@data-cabinet/core/json/Shape"
import type { QueryParameter } from "../api/Endpoint.ts"
import type { Request } from "../server/Request.ts"
import type { ManageError } from "./ManageError.ts"
import type { ManageCode } from "./ManageCode.ts"

export type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE"

export const TAGS = {
  Self: "Who is asking.",
  Sources: "Sources, their intake addresses, and the columns of their tables.",
  Events: "Single events, the feed, and the trash.",
  Tables: "Tables and views, and their rows.",
  Keys: "Keys of the read API, and access tokens.",
  People: "People with their roles, and the sessions in which they act.",
  Deliveries: "Delivery addresses and their deliveries.",
  Destinations: "Places that get the events of the feed as files.",
  Files: "Imported files, and polls.",
  Database: "Schemas, search indexes, the login for reports, and the state of the database.",
  Audit: "Who did what.",
  Description: "The description of the API itself.",
} as const

/** A query parameter with its value; `read` returns undefined for an invalid text. */
export interface ManageParameter<A> extends QueryParameter {
  readonly read: (text: string) => A | undefined
  /** Completes "limit must be …". */
  readonly expected: string
  readonly required?: boolean
}

/** A segment of the path; `read` returns undefined for an invalid one. */
export interface ManageSegment<A> {
  readonly name: string
  readonly description: string
  readonly schema: JsonSchema
  readonly example: unknown
  readonly read: (text: string) => A | undefined
  readonly expected: string
}

type Segments = ReadonlyArray<ManageSegment<unknown>>
type Parameters = ReadonlyArray<ManageParameter<unknown>>

type SegmentValues<S extends Segments> = {
  readonly [K in keyof S]: S[K] extends ManageSegment<infer A> ? A : never
}
type ParameterValues<P extends Parameters> = {
  readonly [Q in P[number] as Q["name"]]?: Q extends ManageParameter<infer A> ? A : never
}

/** A request that passed the frame. */
export interface ManageCall<Path, Query, Body> {
  readonly actor: Actor
  /** Null unless it was sent in one. */
  readonly session: LiveSession | null
  readonly path: Path
  readonly query: Query
  /** The parameters as sent, for endpoints shared with the read API. */
  readonly pairs: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: Body
  readonly request: Request
  /** Reports how long it waited for an event; that time does not count as work. */
  readonly waited: (millis: number) => void
  /** Fails once the sender may no longer do this; for work that waits, and then shows something. */
  readonly again: Effect.Effect<void, ManageError | StoreUnavailable>
}

/** JSON as a value, or as its own text or bytes, which end with a newline. */
export type ManageResult = object | Uint8Array | undefined

export interface ManageEndpoint {
  /** The operation's id, and so the method's name in generated clients. */
  readonly id: string
  readonly tag: keyof typeof TAGS
  readonly method: Method
  readonly path: `/manage/v1/${string}`
  readonly summary: string
  readonly description: string
  readonly action: Action
  readonly segments: Segments
  readonly parameters: Parameters
  /** Parameters that the endpoint's own use case reads from `pairs`. */
  readonly readApiParameters?: ReadonlyArray<QueryParameter>
  readonly body: Schema.Codec<unknown, unknown> | null
  /** Null: the header is ignored, because the request can safely be repeated, or only reveals a secret. */
  readonly once: Once | null
  readonly response: {
    readonly status: 200 | 201 | 204
    readonly description: string
    readonly schema: JsonSchema | null
    /** The named schemas that it refers to. */
    readonly components?: Components
    /** If it is not JSON. */
    readonly contentType?: string
  }
  /** The errors of its use case. */
  readonly errors: ReadonlyArray<ManageCode>
  /** The parameter, or the pointer into the body, that an error of the use case is about. */
  readonly params: Partial<Record<ManageCode, string>>
  /** How much longer a request with this query may take, because it waits. */
  readonly waitMillis?: (query: Readonly<Record<string, unknown>>) => number
  readonly respond: (
    call: ManageCall<ReadonlyArray<unknown>, Readonly<Record<string, unknown>>, unknown>,
  ) => Effect.Effect<ManageResult, ManageError | StoreUnavailable>
}

/** How a POST that creates or sends something is done once for its Idempotency-Key. */
export interface Once {
  /** As in `Idempotency`. */
  readonly completed: KeyedWork<unknown, unknown, unknown>["completed"]
  /** Fields of the response that a repeat is not given, because they are secrets. Its `url` is masked for the same reason. */
  readonly withheld?: ReadonlyArray<string>
  /** The response to a repeat, with status 200, if its schema differs because it lacks these fields. */
  readonly replay?: ManageEndpoint["response"]
}

interface Given<S extends Segments, P extends Parameters, B> {
  readonly segments?: S
  readonly parameters?: P
  readonly readApiParameters?: ReadonlyArray<QueryParameter>
  readonly body?: Schema.Codec<B, unknown>
  readonly once?: Once
  readonly errors?: ReadonlyArray<ManageCode>
  readonly params?: Partial<Record<ManageCode, string>>
  readonly waitMillis?: (query: ParameterValues<P>) => number
  readonly respond: (
    call: ManageCall<SegmentValues<S>, ParameterValues<P>, B>,
  ) => Effect.Effect<ManageResult, ManageError | StoreUnavailable>
}

type Named = Pick<ManageEndpoint, "id" | "tag" | "method" | "path" | "summary" | "description" | "action" | "response">

/** Declares an endpoint; within `respond` its path, parameters and body have their types. */
export const manageEndpoint = <
  const S extends Segments = readonly [],
  const P extends Parameters = readonly [],
  B = undefined,
>(
  declared: Named & Given<S, P, B>,
): ManageEndpoint =>
  ({
    segments: [],
    parameters: [],
    body: null,
    once: null,
    errors: [],
    params: {},
    ...declared,
  }) as unknown as ManageEndpoint
