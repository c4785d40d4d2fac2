/**
 * The reader's connections: a LOGIN role of its own that may select and nothing else. Reads never run on the owner's
 * connection under another role, for a customer's view could set the role back.
 */
import { Context, Effect, Layer, Option } from "effect"
import {
  MAX_CONNECTIONS,
  type ReaderOptions,
  type ReaderSessions,
  readerSessions,
  STATEMENT_TIMEOUT,
} from "./ReaderSessions.ts"
import { ResponseWatch } from "./ResponseWatch.ts"

/** What is known of the standby that rows are read from. */
export interface StandbyState {
  /** Whether reads go there now. */
  readonly used: boolean
  /** How much of what was committed a read there may miss; null while that is not known. */
  readonly lagMillis: number | null
  readonly maxLagMillis: number
  /** Why reads go to the primary instead, in words; null while they do not. */
  readonly reason: string | null
}

/** A streaming standby that rows are read from while it is near enough. */
export interface Standby {
  readonly sessions: ReaderSessions
  readonly isNear: () => boolean
  /** It does not answer, or is no standby: what is asked of it now may never be answered. */
  readonly isLost: () => boolean
  /** Reads go to the primary until the next look: it does not answer. */
  readonly setAside: () => void
  /** Looks until reads go there, or for a few seconds. */
  readonly settled: Effect.Effect<StandbyState>
}

/** The reader's sessions, or none where there is no reader: then reading is off. */
export class ReaderClient extends Context.Service<
  ReaderClient,
  {
    readonly sessions: Option.Option<ReaderSessions>
    /** The role's name, as privileges are asked for it. */
    readonly role: string
    /** How many reads can be under way at once. */
    readonly maxConnections: number
    /** How long the database lets one query run. */
    readonly statementTimeoutMillis: number
    /** Why reading is off, in words; empty while it is on. */
    readonly offReason: string
    /** Where reads go first, if there is such a server. */
    readonly standby?: Standby | undefined
  }
>()("@data-cabinet/store-pg/connection/ReaderClient") {}

/** Beside an OwnerClient its sessions are looked after with the owner's. */
export const layer = (options: ReaderOptions) =>
  Layer.effect(
    ReaderClient,
    Effect.gen(function* () {
      const sessions = yield* readerSessions(options, yield* Effect.serviceOption(ResponseWatch))
      return ReaderClient.of({
        sessions: Option.some(sessions),
        role: options.role,
        maxConnections: options.maxConnections ?? MAX_CONNECTIONS,
        statementTimeoutMillis: options.statementTimeoutMillis ?? STATEMENT_TIMEOUT,
        offReason: "",
      })
    }),
  )

/** Reading switched off, with the reason that `reader_off` answers carry. */
export const layerOff = (role: string, offReason: string) =>
  Layer.succeed(
    ReaderClient,
    ReaderClient.of({ sessions: Option.none(), role, maxConnections: 0, statementTimeoutMillis: 0, offReason }),
  )
