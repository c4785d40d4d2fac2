/**
 * The reader's connections, under its own LOGIN role that may only select. Reads never run on the owner's connection
 * under another role, because a customer's view could reset the role.
 */
import { Context, Effect, Layer, Option } from "effect"
import {
  MAX_CONNECTIONS,
  type ReaderOptions,
  type ReaderSessions,
  readerSessions,
  STATEMENT_TIMEOUT_MILLIS,
} from "./ReaderSessions.ts"
import { ResponseWatch } from "./ResponseWatch.ts"

/** The state of the standby that rows are read from. */
export interface StandbyState {
  /** Whether reads currently go there. */
  readonly used: boolean
  /** How far a read there may lag behind the latest commit; null while unknown. */
  readonly lagMillis: number | null
  readonly maxLagMillis: number
  /** Why reads go to the primary instead, in words; null while they do not. */
  readonly reason: string | null
}

/** A streaming standby that rows are read from while its lag is within the limit. */
export interface Standby {
  readonly sessions: ReaderSessions
  readonly isNear: () => boolean
  /** Whether it does not respond, or is not a standby: a query sent to it now may never get a response. */
  readonly isLost: () => boolean
  /** Sends reads to the primary until the next check, because the standby does not respond. */
  readonly setAside: () => void
  /** Waits until reads go there, for a few seconds at most. */
  readonly settled: Effect.Effect<StandbyState>
}

/** The reader's sessions, or none if no reader is configured: reading is then off. */
export class ReaderClient extends Context.Service<
  ReaderClient,
  {
    readonly sessions: Option.Option<ReaderSessions>
    /** The role's name, for checks of privileges. */
    readonly role: string
    /** Maximum number of reads in flight. */
    readonly maxConnections: number
    /** How long the database lets one query run. */
    readonly statementTimeoutMillis: number
    /** Why reading is off, in words; empty while it is on. */
    readonly offReason: string
    /** The server that reads go to first, if there is one. */
    readonly standby?: Standby | undefined
  }
>()("@data-cabinet/store-pg/connection/ReaderClient") {}

/** Next to an OwnerClient, its sessions are watched along with the owner's. */
export const layer = (options: ReaderOptions) =>
  Layer.effect(
    ReaderClient,
    Effect.gen(function* () {
      const sessions = yield* readerSessions(options, yield* Effect.serviceOption(ResponseWatch))
      return ReaderClient.of({
        sessions: Option.some(sessions),
        role: options.role,
        maxConnections: options.maxConnections ?? MAX_CONNECTIONS,
        statementTimeoutMillis: options.statementTimeoutMillis ?? STATEMENT_TIMEOUT_MILLIS,
        offReason: "",
      })
    }),
  )

/** Reading switched off, with the reason given in `reader_off` responses. */
export const layerOff = (role: string, offReason: string) =>
  Layer.succeed(
    ReaderClient,
    ReaderClient.of({ sessions: Option.none(), role, maxConnections: 0, statementTimeoutMillis: 0, offReason }),
  )
