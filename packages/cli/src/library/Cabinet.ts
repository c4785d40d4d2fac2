/** The interface of an open cabinet. */
import type { DiagnosticsReport } from "@data-cabinet/core/diagnostics/Diagnostics"
import type { ActivityApi } from "./ActivityApi.ts"
import type { AddressesApi } from "./AddressesApi.ts"
import type { EventsApi } from "./EventsApi.ts"
import type { ExportOptions, Selection } from "./ExportApi.ts"
import type { FeedEvent, FeedOptions } from "./FeedApi.ts"
import type { FetchHandler, NodeHandler } from "./Handlers.ts"
import type { ImportsApi } from "./ImportsApi.ts"
import type { KeysApi, TokensApi } from "./KeysApi.ts"
import type { NoticesApi } from "./NoticesApi.ts"
import type { PollsApi } from "./PollsApi.ts"
import type { ReportLoginApi } from "./ReportLoginApi.ts"
import type { Row, RowsQuery, RowsResult } from "./RowsApi.ts"
import type { ScriptOptions, ScriptOutcome } from "./ScriptApi.ts"
import type { SourcesApi } from "./SourcesApi.ts"
import type { ColumnsApi, TablesApi } from "./TablesApi.ts"

export type { DiagnosticsReport }

/** A submission by the program itself to a source. */
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

/** How a cabinet is closed. */
export interface CloseOptions {
  /** How long to wait for work in flight before it is aborted, in milliseconds. Default 10,000. */
  readonly graceMillis?: number | undefined
}

/** An open cabinet. Every call rejects with a `CabinetError`. */
export interface Cabinet {
  /** `(req, res)`: for node:http, Express, Koa or Fastify, below any path. Mount it before any body parser. */
  readonly nodeHandler: NodeHandler
  /** `Request => Promise<Response>`: for frameworks that speak fetch. */
  readonly fetchHandler: FetchHandler
  /**
   * The address under which others reach the cabinet: `baseUrl` of the options, or the base URL of a server with the
   * same database. Null if none is known; intake addresses then begin with a guess.
   */
  readonly baseUrl: string | null
  /** Sources of events, each with an intake address and a table. */
  readonly sources: SourcesApi
  /** Keys for readers of the API. */
  readonly keys: KeysApi
  /** Tokens for programs that manage the cabinet or upload to it over HTTP. */
  readonly tokens: TokensApi
  /** Delivery addresses: the receivers of new events, and the outcomes. */
  readonly addresses: AddressesApi
  /** Files into sources. */
  readonly imports: ImportsApi
  /** Sources filled by polling a URL. */
  readonly polls: PollsApi
  /** Single events: inspect, trash, erase. */
  readonly events: EventsApi
  /** Every readable table and view: sources' tables, and your own. */
  readonly tables: TablesApi
  /** Columns of sources' tables: their labels and types. */
  readonly columns: ColumnsApi
  /**
   * One event from this program itself: no secret and no rate limit, but the same repeats, the same row, the same
   * deliveries.
   */
  readonly intake: (sourceId: number, submission: IntakeSubmission) => Promise<IntakeReceipt>
  /** Every event in the order of acceptance, from a cursor or from the very beginning. */
  readonly feed: (options?: FeedOptions) => AsyncIterable<FeedEvent>
  /** A page of rows of a table or view such as `sources.orders`. */
  readonly rows: (object: string, query?: RowsQuery) => Promise<RowsResult>
  /** All rows of a selection, page after page; each row that exists throughout is returned exactly once. */
  readonly allRows: (object: string, query?: RowsQuery) => AsyncIterable<Row>
  /**
   * All rows of a selection as a file in pieces, digit by digit as the API has them: from one snapshot, unless `live` is given.
   * An iteration that ends with an error has not produced a whole file.
   */
  readonly export: (object: string, selection: Selection, options: ExportOptions) => AsyncIterable<Uint8Array>
  /** Runs SQL as the author, who creates tables and views in `public` and in schemas of its own. */
  readonly sql: (script: string, options?: ScriptOptions) => Promise<ReadonlyArray<ScriptOutcome>>
  /** How psql, a program for reports or a notebook reads the tables in SQL. */
  readonly reportLogin: ReportLoginApi
  /** Its activity: events by hours and days, silent sources, deliveries. */
  readonly activity: ActivityApi
  /** Notices: events that say what fails, is silent or is new. */
  readonly notices: NoticesApi
  /** Diagnostics of the database: sizes, connections, what holds the feed back, waiting work. */
  readonly diagnostics: () => Promise<DiagnosticsReport>
  /**
   * Accepts nothing more, finishes the work in flight and releases everything; safe to repeat. Stop the server in which the
   * handlers are mounted first: until then they respond with 503.
   */
  readonly close: (options?: CloseOptions) => Promise<void>
}
