/** The diagnostics of a cabinet's database, for its operator. */
import { Context, type Effect } from "effect"
import type { FenceHolder } from "../feed/FenceHolder.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { FollowerState } from "../follower/FollowerStore.ts"
import type { LimitedCount } from "../limit/LimitedRequests.ts"
import type { RightBeyondReading } from "../row/ReportLoginStore.ts"
import type { ProviderName } from "../source/Providers.ts"
import type { RefusalReason } from "../verification/VerifySender.ts"
import type { ColdReport } from "./ColdFindings.ts"

/**
 * The parts of a cabinet that take space: events are kept for good, rows as long as their tables, original requests and
 * logs for their retention periods, staged rows until their import has ended. `seen` holds the marks of items that
 * polls have received.
 */
export const CABINET_PARTS = [
  "events",
  "rows",
  "originals",
  "deliveries",
  "attempts",
  "staged",
  "seen",
  "other",
] as const

/** A part of a cabinet that takes space. */
export type CabinetPart = (typeof CABINET_PARTS)[number]

/** An event whose row is missing or incomplete. */
export interface RowSetAside {
  readonly eventId: number
  readonly sourceId: number
  /** The message of the database, or of the fault. */
  readonly reason: string
  /** True if the database refuses the row; false if the program is at fault. */
  readonly refused: boolean
  /** Whether the table has the row, but without the fields that have no column. */
  readonly partial: boolean
  /** When the next attempt is made, RFC 3339. */
  readonly retryAt: string
}

/** Roles with more rights in the database than a cabinet needs, and work that PostgreSQL cannot stop. */
export interface AuthorityReport {
  /**
   * Whether the cabinet's own user is a superuser: a view that runs with its rights could do anything on the server.
   */
  readonly isSuperuser: boolean
  /** Reads and reports that have outlived every time limit, and the request to end them; the longest first. */
  readonly outlivedSessions: ReadonlyArray<{
    readonly pid: number
    readonly login: string
    readonly application: string
    readonly seconds: number
  }>
  /**
   * Statements for a superuser that deny every role the functions that nothing can stop once they run; empty if they
   * are denied already.
   */
  readonly unstoppableForAll: ReadonlyArray<string>
  /**
   * Transactions of this database that have been prepared for over a minute: they hold locks, and no session's end
   * releases them.
   */
  readonly preparedTransactions: ReadonlyArray<{
    readonly name: string
    readonly login: string
    readonly since: string
  }>
  /** Extensions that the author owns and may drop together with all their dependents. */
  readonly authorsExtensions: ReadonlyArray<{ readonly name: string; readonly schema: string }>
  /** Whether the author may create schemas, and with that extensions, in the database. */
  readonly authorCreates: boolean
}

/** The result of the diagnostics. */
export interface DiagnosticsReport {
  /** Such as `18.4`. */
  readonly serverVersion: string
  /** Whether it is the PostgreSQL shipped with the cabinet. */
  readonly isEmbedded: boolean
  readonly database: string
  readonly user: string
  /** Sources whose latest request came from a well-known sender, and that drop a header belonging to the event. */
  readonly droppedHeaders: ReadonlyArray<{
    readonly sourceId: number
    readonly name: string
    readonly provider: ProviderName
  }>
  /** Sources some of whose latest events could not be read, or only in a guessed charset. */
  readonly unreadable: ReadonlyArray<{
    readonly sourceId: number
    readonly name: string
    /** True if the text does not confirm the guess; false if there is U+FFFD in the place of what could not be read. */
    readonly unclear: boolean
    /** How many of the latest events this is true of, and the latest one. */
    readonly events: number
    readonly eventId: number
    /** Whether one of them has an original request that can be read in another charset. */
    readonly rereadable: boolean
  }>
  /** The size in bytes of the whole database, and of the cabinet's own data in it. */
  readonly databaseBytes: number
  readonly cabinetBytes: number
  /** The sizes of its parts, including indexes. */
  readonly sizes: Readonly<Record<CabinetPart, number>>
  /**
   * Tables, as `schema.name`, that may have used half of the numbers that PostgreSQL has for out-of-line values;
   * fullest first.
   */
  readonly outOfLineValues: ReadonlyArray<{
    readonly table: string
    /** An upper bound, from PostgreSQL's statistics. */
    readonly values: number
  }>
  /** How far the database's clock is ahead of this machine's, in milliseconds, corrected for the round trip. */
  readonly clockSkewMillis: number
  readonly isStandby: boolean
  /** Why nothing can be written, for example because the disk is full; null if a test write succeeded. */
  readonly cannotWrite: string | null
  /** `synchronous_commit` as the server, the database or the role sets it. The cabinet's own sessions raise `off`. */
  readonly synchronousCommit: string
  /** Which of `fsync` and `full_page_writes` are off, which must be on to survive a crash; null if both are on. */
  readonly switchedOff: string | null
  /** Whether every login of the server can connect to this database, including the roles of neighbouring cabinets. */
  readonly isOpenToAll: boolean
  /**
   * Whether an author login created by the cabinet never expires: a password that the author chose would stay valid.
   */
  readonly authorStays: boolean
  /** Whether every login of the database can take advisory locks, and so use up the server's lock table. */
  readonly locksForAll: boolean
  /** Sessions of the whole server, and the maximum. */
  readonly connections: number
  readonly maxConnections: number
  readonly fenceHolders: ReadonlyArray<FenceHolder>
  /**
   * When clients of the feed first proved to have read events that this database lacks, RFC 3339; null if not in the
   * last week.
   */
  readonly setBackAt: string | null
  /** The work behind the feed, and how far it has come. */
  readonly followers: ReadonlyArray<FollowerState>
  /** The files of old events; null if there are none, and no place for them. */
  readonly cold: ColdReport | null
  readonly deferredRows: number
  /** Rows that were not written, or not with all their fields: their number, and the first of them with reasons. */
  readonly rowsSetAside: { readonly count: number; readonly first: ReadonlyArray<RowSetAside> }
  /** Sources whose table, as `schema.name`, was dropped, renamed or moved by hand. */
  readonly lostTables: ReadonlyArray<{ readonly sourceId: number; readonly name: string; readonly table: string }>
  /**
   * Columns of sources' tables whose type was changed by hand to one that stores some values otherwise than they were sent,
   * without an error; `expected` is the type that the cabinet gave them.
   */
  readonly inexactColumns: ReadonlyArray<{
    readonly sourceId: number
    /** As `schema.name`. */
    readonly table: string
    readonly column: string
    readonly type: string
    readonly expected: string
  }>
  /** Imports, of files and of polls, that failed in the last week while their rows were being accepted. */
  readonly failedImports: ReadonlyArray<{
    readonly id: number
    readonly sourceId: number
    readonly name: string
    readonly staged: number
    readonly accepted: number
    readonly failure: string
  }>
  /**
   * For each partitioned table, its last day with a partition, and the full days until then; null and -1 without a
   * partition.
   */
  readonly partitions: ReadonlyArray<{
    readonly table: string
    readonly until: string | null
    readonly daysAhead: number
  }>
  /** Polls whose last runs failed, and the number of consecutive failures. */
  readonly failingPolls: ReadonlyArray<{ readonly id: number; readonly sourceId: number; readonly failures: number }>
  /**
   * Requests of the last day that were refused because their sender could not be verified, by source and reason, most
   * frequent first.
   */
  readonly refusedSignatures: ReadonlyArray<{
    readonly sourceId: number
    readonly name: string
    readonly recipe: string
    readonly reason: RefusalReason
    readonly count: number
    readonly since: string
    readonly lastAt: string
  }>
  /** Requests of the last day that were refused with 429, by source, most frequent first. */
  readonly limitedRequests: ReadonlyArray<LimitedCount & { readonly sourceId: number; readonly name: string }>
  /**
   * The address from which all recent requests to intake came, if there were at least 100 within a day, from at least
   * three programs by their User-Agent: probably an untrusted proxy. Null otherwise.
   */
  readonly soleClient: { readonly address: string; readonly requests: number; readonly programs: number } | null
  /** Sources whose sender signs the public address, which must therefore begin with the base URL. */
  readonly signedAddresses: ReadonlyArray<{ readonly sourceId: number; readonly name: string; readonly recipe: string }>
  /** The base URL that a server has recorded; null if none has. */
  readonly baseUrl: string | null
  /** Tables, as `schema.name`, whose search index lacks a column or was never completed: searches do not use it. */
  readonly outdatedSearchIndexes: ReadonlyArray<string>
  /** Large tables that are often read whole, as `schema.name`, the most read first. */
  readonly tablesReadWhole: ReadonlyArray<{ readonly name: string; readonly times: number }>
  /** Slow reads of the last week, grouped by the index that would serve them, costliest first. */
  readonly slowReads: ReadonlyArray<{
    /** The table, as `schema.name`. */
    readonly name: string
    /** The index's name. */
    readonly columns: ReadonlyArray<string>
    readonly count: number
    readonly meanMillis: number
    readonly worstMillis: number
    readonly since: string
    readonly lastAt: string
  }>
  /** The rights of the login for reports besides reading; null while it is inactive. */
  readonly reportRights: ReadonlyArray<RightBeyondReading> | null
  readonly authority: AuthorityReport
  /** The age of the longest open transaction in this database, in seconds; it prevents old row versions from being vacuumed. */
  readonly longestTransactionSeconds: number
}

export class Diagnostics extends Context.Service<
  Diagnostics,
  { readonly examine: Effect.Effect<DiagnosticsReport, StoreUnavailable> }
>()("@data-cabinet/core/diagnostics/Diagnostics") {}
