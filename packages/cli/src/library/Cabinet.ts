/** The interface of an open cabinet. */
import type { DiagnosticsReport } from "@data-cabinet/core/diagnostics/Diagnostics"
import type { ActivityApi } from "./ActivityApi.ts"
import type { AddressesApi } from "./AddressesApi.ts"
import type { EventsApi } from "./EventsApi.ts"
import type { ExportOptions, Selection } from "./ExportApi.ts"
import type { FeedEvent, FeedOptions } from "./FeedApi.ts"
import type { FetchHandler, NodeHandler } from "./Handlers.ts"
import type { ImportsApi } from "./ImportsApi.ts"
import type { RebuildsApi } from "./RebuildsApi.ts"
import type { KeysApi, TokensApi } from "./KeysApi.ts"
import type { NoticesApi } from "./NoticesApi.ts"
import type { DestinationsApi } from "./DestinationsApi.ts"
import type { PollsApi } from "./PollsApi.ts"
import type { ReportLoginApi } from "./ReportLoginApi.ts"
import type { Row, RowsQuery, RowsResult } from "./RowsApi.ts"
import type { ScriptOptions, ScriptOutcome } from "./ScriptApi.ts"
import type { SourcesApi } from "./SourcesApi.ts"
import type { ColumnsApi, TablesApi } from "./TablesApi.ts"

export type { DiagnosticsReport }

/** A submission to a source by the program itself. */
export interface IntakeSubmission {
  /**
   * Fields with values that JSON can represent: a Date becomes its ISO text, a bigint keeps all its digits, undefined is
   * omitted.
   */
  readonly fields: Readonly<Record<string, unknown>>
}

/** The result of a submission. */
export interface IntakeReceipt {
  /** The event's number: the same in the feed, and `_event_id` in the source's table. */
  readonly id: number
  /** The same fields reached the same source within five minutes: the event is kept, but creates no row and no delivery. */
  readonly duplicate: boolean
  /** No field was filled: the event is kept, but no delivery is sent. */
  readonly empty: boolean
}

/** How to close a cabinet. */
export interface CloseOptions {
  /** How long to wait for work in flight before it is aborted, in milliseconds. Default 10,000. */
  readonly graceMillis?: number | undefined
}

/** An open cabinet. Every call rejects with a `CabinetError`. */
export interface Cabinet {
  /** `(req, res)`: for node:http, Express, Koa or Fastify, below any path. Mount it before any body parser. */
  readonly nodeHandler: NodeHandler
  /** `Request => Promise<Response>`: for frameworks based on fetch. */
  readonly fetchHandler: FetchHandler
  /**
   * The cabinet's public URL: the option `baseUrl`, or the base URL of a server with the same database. Null if neither is
   * known; intake addresses then begin with a guess.
   */
  readonly baseUrl: string | null
  /** Sources of events, each with an intake address and a table. */
  readonly sources: SourcesApi
  /** Keys for readers of the API. */
  readonly keys: KeysApi
  /** Tokens for programs that manage the cabinet or upload to it over HTTP. */
  readonly tokens: TokensApi
  /** Delivery addresses, which receive new events, and the outcomes of their deliveries. */
  readonly addresses: AddressesApi
  /** Imports of files into sources. */
  readonly imports: ImportsApi
  /** Places that get the events of the feed as files. */
  readonly destinations: DestinationsApi
  /** Sources filled by polling a URL. */
  readonly polls: PollsApi
  /** Stored events: inspect, trash, erase, verify and reread them. */
  readonly events: EventsApi
  /** Every readable table and view: sources' tables, and your own. */
  readonly tables: TablesApi
  /** Columns of sources' tables: their labels and types. */
  readonly columns: ColumnsApi
  /** Rebuilds: a source's table is written again from its events, with other types, names and order. */
  readonly rebuilds: RebuildsApi
  /**
   * Submits one event from this program: without a secret or a rate limit, but with the same repeats, rows and deliveries
   * as a request.
   */
  readonly intake: (sourceId: number, submission: IntakeSubmission) => Promise<IntakeReceipt>
  /** Reads events in the order of acceptance, from a cursor or from the beginning. */
  readonly feed: (options?: FeedOptions) => AsyncIterable<FeedEvent>
  /** Reads a page of rows of a table or view, such as `sources.orders`. */
  readonly rows: (object: string, query?: RowsQuery) => Promise<RowsResult>
  /** Reads all rows of a selection, page after page; returns each row that exists throughout exactly once. */
  readonly allRows: (object: string, query?: RowsQuery) => AsyncIterable<Row>
  /**
   * Exports all rows of a selection as a file in pieces, with the API's digits, from one snapshot unless `live` is set. If the
   * iteration ends with an error, the file is incomplete.
   */
  readonly export: (object: string, selection: Selection, options: ExportOptions) => AsyncIterable<Uint8Array>
  /** Runs SQL as the author role, which may create tables and views in `public` and in its own schemas. */
  readonly sql: (script: string, options?: ScriptOptions) => Promise<ReadonlyArray<ScriptOutcome>>
  /** The login with which psql, a reporting tool or a notebook reads the tables in SQL. */
  readonly reportLogin: ReportLoginApi
  /** Activity: events by the hour and day, silent sources, deliveries. */
  readonly activity: ActivityApi
  /** Notices: events that report failures, silent sources and news. */
  readonly notices: NoticesApi
  /** Diagnoses the database: sizes, connections, what holds the feed back, pending work. */
  readonly diagnostics: () => Promise<DiagnosticsReport>
  /**
   * Refuses new work, finishes work in flight and releases everything; safe to repeat. First stop the server that the
   * handlers are mounted in: until it stops, they respond with 503.
   */
  readonly close: (options?: CloseOptions) => Promise<void>
}
