/** What a program holds once it has opened a cabinet. */
import type { DiagnosticsReport } from "@data-cabinet/core/diagnostics/Diagnostics"
import type { AddressesApi } from "./AddressesApi.ts"
import type { EventsApi } from "./EventsApi.ts"
import type { FeedEvent, FeedOptions } from "./FeedApi.ts"
import type { FetchHandler, NodeHandler } from "./Handlers.ts"
import type { ImportsApi } from "./ImportsApi.ts"
import type { KeysApi, UploadTokensApi } from "./KeysApi.ts"
import type { PollsApi } from "./PollsApi.ts"
import type { Row, RowsQuery, RowsResult } from "./RowsApi.ts"
import type { ScriptOptions, ScriptOutcome } from "./ScriptApi.ts"
import type { SourcesApi } from "./SourcesApi.ts"
import type { ColumnsApi, TablesApi } from "./TablesApi.ts"

export type { DiagnosticsReport }

/** What a program itself sends to a source. */
export interface IntakeSubmission {
  /** Fields with values that JSON can write: a Date becomes its ISO text, a bigint keeps all its digits, undefined is left out. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** What a submission became. */
export interface IntakeReceipt {
  /** The event's number: the same in the feed, and `_event_id` in the source's table. */
  readonly id: number
  /** The same fields came to the same source within five minutes: it is kept, but makes no row and no delivery. */
  readonly duplicate: boolean
  /** No field was filled: it is kept, but no delivery is sent. */
  readonly empty: boolean
}

/** How a cabinet is closed. */
export interface CloseOptions {
  /** How long to wait for what is under way before it is broken off, in milliseconds. Default 10,000. */
  readonly graceMillis?: number | undefined
}

/** An open cabinet. Every call rejects with a `CabinetError`. */
export interface Cabinet {
  /** `(req, res)`: for node:http, Express, Koa or Fastify, below any path, before anything that reads bodies. */
  readonly nodeHandler: NodeHandler
  /** `Request => Promise<Response>`: for frameworks that speak fetch. */
  readonly fetchHandler: FetchHandler
  /** Sources: senders' ways in, each with an intake address and a table. */
  readonly sources: SourcesApi
  /** Keys for readers of the API. */
  readonly keys: KeysApi
  /** Tokens for uploads over HTTP. */
  readonly operators: UploadTokensApi
  /** Delivery addresses: who is told of new events, and what came of it. */
  readonly addresses: AddressesApi
  /** Files into sources. */
  readonly imports: ImportsApi
  /** Sources filled by asking an address now and then. */
  readonly polls: PollsApi
  /** Single events: looked into, taken back, erased. */
  readonly events: EventsApi
  /** Whatever can be read: sources' tables, and your own tables and views. */
  readonly tables: TablesApi
  /** Columns of sources' tables: their labels and types. */
  readonly columns: ColumnsApi
  /** One event from this program itself: no secret and no rate, but the same repeats, the same row, the same deliveries. */
  readonly intake: (sourceId: number, submission: IntakeSubmission) => Promise<IntakeReceipt>
  /** Every event in the order of acceptance, from a cursor or from the very beginning. */
  readonly feed: (options?: FeedOptions) => AsyncIterable<FeedEvent>
  /** A page of rows of a table or view such as `sources.orders`. */
  readonly rows: (object: string, query?: RowsQuery) => Promise<RowsResult>
  /** All rows of a selection, page after page; each that was there all along comes exactly once. */
  readonly allRows: (object: string, query?: RowsQuery) => AsyncIterable<Row>
  /** Runs SQL as the author, who makes tables and views in `public` and in schemas of its own. */
  readonly sql: (script: string, options?: ScriptOptions) => Promise<ReadonlyArray<ScriptOutcome>>
  /** A look over the database: sizes, connections, what holds the feed back, what waits. */
  readonly diagnostics: () => Promise<DiagnosticsReport>
  /**
   * Takes nothing more, finishes what is under way and lets everything go; safe to repeat. Stop the server that the
   * handlers are mounted in first: until then they answer 503.
   */
  readonly close: (options?: CloseOptions) => Promise<void>
}
