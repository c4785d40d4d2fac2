/**
 * Reads rows from a streaming standby while it is near, and from the primary while it is not. The standby is checked
 * continuously: is it a standby, of this very primary, and how far behind? It is used only while it is known to be near
 * enough, so a read there misses nothing that was committed longer ago than the limit.
 *
 * It is reached with the reader's own login and in the database of the same name, because both are copies of the
 * primary's.
 */
import { background } from "@data-cabinet/core/runtime/Background"
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Metric, Option } from "effect"
import type { SqlError } from "effect/sql"
import { connectionOf } from "./Connection.ts"
import { StatementClient } from "./OwnerClient.ts"
import { layer as primaryReader, ReaderClient, type Standby, type StandbyState } from "./ReaderClient.ts"
import { type ReaderOptions, readerSessions } from "./ReaderSessions.ts"
import { ReplayLag } from "./ReplayLag.ts"
import * as SessionPool from "./SessionPool.ts"
import { short } from "./SessionSettings.ts"
import { connectionLossAsError, sqlMessage } from "./StoreFailure.ts"

const PRIMARY = `
SELECT (pg_current_wal_flush_lsn() - '0/0')::text AS place, system_identifier::text AS system, current_database()::text AS database
FROM pg_control_system()`

const STANDBY = `
SELECT pg_is_in_recovery() AS standby, (pg_last_wal_replay_lsn() - '0/0')::text AS place, system_identifier::text AS system
FROM pg_control_system()`

/** Time limit of a check: a frozen server counts as far behind. */
const STANDBY_TIMEOUT = "2 seconds"

/** How long, in milliseconds, a query of its state waits for it to come near. */
const SETTLE_MILLIS = 4_000

/** The least time between two searches for another standby, in milliseconds: each ends all sessions with this one. */
const SEEK_MILLIS = 5_000

const lagGauge = Metric.gauge("standby_lag_seconds", {
  description: "How much of what was committed a read of rows on the standby may miss, in seconds.",
})
const usedGauge = Metric.gauge("standby_in_use", {
  description: "1 while rows are read from the standby, 0 while they are read from the primary instead of it.",
})

export interface StandbyOptions {
  /** Its address; the login and the database in it are not used. */
  readonly url: string
  readonly maxLagMillis: number
  /** The reader's options on the primary. */
  readonly reader: ReaderOptions
}

/** The standby's address with the login and the database that the reader has on the primary. */
const standbyAddress = (standbyUrl: string, readerUrl: string): string => {
  const [standby, reader] = [new URL(standbyUrl), new URL(readerUrl)]
  standby.username = reader.username
  standby.password = reader.password
  standby.pathname = reader.pathname
  return standby.toString()
}

const fault = (why: string) => ({ fault: why })

export const layer = (options: StandbyOptions) =>
  Layer.effect(
    ReaderClient,
    Effect.gen(function* () {
      const reader = yield* ReaderClient
      const primary = yield* StatementClient
      const pools = { ...options.reader, url: standbyAddress(options.url, options.reader.url) }
      const sessions = yield* readerSessions(pools)
      // A session of its own, so that a check never waits behind reads.
      const watching = SessionPool.layer({
        url: pools.url,
        maxConnections: 1,
        connectTimeout: STANDBY_TIMEOUT,
        applicationName: "data-cabinet standby watch",
        settings: short(2_000),
      })
      const watcher = Context.get(yield* Layer.build(Layer.fresh(watching)), PgClient.PgClient)
      const clock = yield* Clock.Clock
      const { route } = yield* connectionOf(pools.url)
      let soughtAt = Number.NEGATIVE_INFINITY
      /** Of several servers, another may be a standby. */
      const seekAnother = () => {
        const now = clock.currentTimeMillisUnsafe()
        if (route.servers.length === 1 || now - soughtAt < SEEK_MILLIS) return
        soughtAt = now
        route.leave()
      }
      const lag = new ReplayLag()
      const { maxLagMillis } = options
      let reason: string | null = "It has not been looked at yet."
      const isNear = () => reason === null && lag.at(clock.currentTimeMillisUnsafe()) <= maxLagMillis

      const state = (): StandbyState => {
        const behind = lag.at(clock.currentTimeMillisUnsafe())
        const lagMillis = Number.isFinite(behind) ? behind : null
        const used = isNear()
        const far =
          lagMillis === null ? "It has not caught up yet." : `It is more than ${maxLagMillis / 1000} s behind.`
        return { used, lagMillis, maxLagMillis, reason: used ? null : (reason ?? far) }
      }

      const compare = Effect.gen(function* () {
        const at = clock.currentTimeMillisUnsafe()
        const [here] = yield* primary.unsafe<{ place: string; system: string; database: string }>(PRIMARY)
        lag.primaryAt(at, Number(here!.place))
        const [there] = yield* watcher.unsafe<{ standby: boolean; place: string | null; system: string }>(STANDBY)
        if (there!.system !== here!.system) return fault("It is no copy of this database: DATABASE_READ_URL is wrong.")
        if (!there!.standby)
          return fault("It is a primary of its own now: DATABASE_READ_URL names no standby any more.")
        lag.replayed(Number(there!.place ?? 0))
        return { database: here!.database }
      })

      const look = compare.pipe(
        connectionLossAsError,
        Effect.timeoutOrElse({
          duration: STANDBY_TIMEOUT,
          orElse: () => Effect.succeed(fault("It does not answer in time.")),
        }),
        Effect.catch((error: SqlError.SqlError) => Effect.succeed(fault(`It cannot be asked: ${sqlMessage(error)}.`))),
        Effect.map((seen) => {
          if ("fault" in seen) {
            reason = seen.fault
            // Only samples of a healthy standby count; start over.
            lag.forget()
            seekAnother()
          } else reason = null
          return seen
        }),
      )

      let told: string | null | undefined
      const tell = Effect.suspend(() => {
        const { used, reason: why } = state()
        if (why === told) return Effect.void
        const first = told === undefined
        told = why
        if (used) return first ? Effect.void : Effect.logInfo("rows are read from the standby again")
        return Effect.logWarning(`rows are read from the primary, not from the standby: ${why}`)
      })
      const measure = (database: string) =>
        Effect.suspend(() => {
          const { used, lagMillis } = state()
          return Effect.all([
            Metric.update(
              Metric.withAttributes(lagGauge, { database }),
              (lagMillis ?? Number.POSITIVE_INFINITY) / 1000,
            ),
            Metric.update(Metric.withAttributes(usedGauge, { database }), used ? 1 : 0),
          ])
        })

      const database = decodeURIComponent(new URL(pools.url).pathname.slice(1))
      const watch = look.pipe(Effect.andThen(tell), Effect.andThen(measure(database)))
      yield* background("standby watch", Math.max(50, Math.min(1_000, maxLagMillis / 5)), watch)
      const standby: Standby = {
        sessions,
        isNear,
        isLost: () => reason !== null,
        setAside: () => {
          reason = "It did not answer a read."
          lag.forget()
        },
        settled: Effect.gen(function* () {
          const last = clock.currentTimeMillisUnsafe() + SETTLE_MILLIS
          for (;;) {
            yield* look
            if (isNear() || clock.currentTimeMillisUnsafe() > last) return state()
            yield* Effect.sleep("200 millis")
          }
        }),
      }
      return ReaderClient.of({ ...reader, standby: Option.isSome(reader.sessions) ? standby : undefined })
    }),
  ).pipe(Layer.provide(primaryReader(options.reader)))
