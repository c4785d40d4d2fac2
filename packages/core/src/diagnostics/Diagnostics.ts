/** A look over a cabinet's database, for the one who has to say whether it is well. */
import { Context, type Effect } from "effect"
import type { FenceHolder } from "../feed/FenceHolder.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

/**
 * What takes place in a cabinet: events are kept for good, rows as long as their tables, original requests and the logs
 * for their time, what is staged until its import has ended. `seen` are the marks of what polls have had.
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

export type CabinetPart = (typeof CABINET_PARTS)[number]

/** What was found. */
export interface DiagnosticsReport {
  /** Such as `18.4`. */
  readonly serverVersion: string
  readonly database: string
  readonly user: string
  /** Bytes of the whole database, and of what the cabinet itself keeps in it. */
  readonly databaseBytes: number
  readonly cabinetBytes: number
  /** Of what it is made, with indexes. */
  readonly sizes: Readonly<Record<CabinetPart, number>>
  /** How far the database's clock is ahead of this machine's, in milliseconds; the way there is taken off. */
  readonly clockSkewMillis: number
  readonly isStandby: boolean
  /** Why nothing can be written, such as that the disk is full; null where something was, for a try. */
  readonly cannotWrite: string | null
  /** Whether every login of the server may enter this database, the roles of its neighbours too. */
  readonly isOpenToAll: boolean
  /** The author's login, where it is of our making, holds for good: a password that the author chose would stay. */
  readonly authorStays: boolean
  /** Whether whoever may log in to the database may take advisory locks, and with them the server's room for locks. */
  readonly locksForAll: boolean
  /** Sessions of the whole server, and how many it allows. */
  readonly connections: number
  readonly maxConnections: number
  readonly fenceHolders: ReadonlyArray<FenceHolder>
  /** Since when clients of the feed are known to have read events that this database does not have, RFC 3339; null if never in the last week. */
  readonly setBackAt: string | null
  readonly deferredRows: number
  /** Rows that could not be planned by a fault of the program: how many, and the first of them with their reason. */
  readonly rowsSetAside: {
    readonly count: number
    readonly first: ReadonlyArray<{ readonly eventId: number; readonly sourceId: number; readonly reason: string }>
  }
  /** Imports, of files and of polls, that failed in the last week while their rows were accepted. */
  readonly failedImports: ReadonlyArray<{
    readonly id: number
    readonly sourceId: number
    readonly name: string
    readonly staged: number
    readonly accepted: number
    readonly failure: string
  }>
  /** The last day that has a partition, by partitioned table, and whole days from today until then; null and -1 for none. */
  readonly partitions: ReadonlyArray<{
    readonly table: string
    readonly until: string | null
    readonly daysAhead: number
  }>
  /** Polls whose last runs failed, and how many of them in a row. */
  readonly failingPolls: ReadonlyArray<{ readonly id: number; readonly sourceId: number; readonly failures: number }>
  /** Tables, as `schema.name`, with a search index that lacks a column, or was never finished: searches go without it. */
  readonly outdatedSearchIndexes: ReadonlyArray<string>
  /** The longest transaction open in this database, in seconds; it keeps old rows from being tidied away. */
  readonly longestTransactionSeconds: number
}

export class Diagnostics extends Context.Service<
  Diagnostics,
  { readonly examine: Effect.Effect<DiagnosticsReport, StoreUnavailable> }
>()("@data-cabinet/core/diagnostics/Diagnostics") {}
