/**
 * Reads rows from a streaming standby while it is near, and from the primary while it is not. The standby is checked
 * continuously: is it a standby, of this very primary, and how far behind? It is used only while it is known to be near
 * enough, so a read there misses only commits more recent than the limit.
 *
 * It is reached with the reader's own login and in the database of the same name, because both are copies of the
 * primary's.
 *
 * Decision: docs/decisions/0018-standby-lag-and-login.md
 */
import { background } from "@data-cabinet/core/runtime/Background"
import { type LiveGauges, liveGauges } from "@data-cabinet/core/runtime/LiveGauges"
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Metric, Option } from "effect"
import type { SqlError } from "effect/sql"
import { connectionOf } from "./Connection.ts"
import { StatementClient } from "./OwnerClient.ts"
import { layer as primaryReader, ReaderClient, type Standby, type StandbyState } from "./ReaderClient.ts"
import { type ReaderOptions, readerSessions } from "./ReaderSessions.ts"
import { ReplayLag } from "./ReplayLag.ts"
import type { ServerRoute } from "./ServerRoute.ts"
import * as SessionPool from "./SessionPool.ts"
import { short } from "./SessionSettings.ts"
import { connectionLossAsError, sqlMessage } from "./StoreFailure.ts"

const PRIMARY = `
SELECT (pg_current_wal_flush_lsn() - '0/0')::text AS place, system_identifier::text AS system
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
  description: "How far a read of rows on the standby may lag behind the latest commit, in seconds.",
})
const usedGauge = Metric.gauge("standby_in_use", {
  description: "1 while rows are read from the standby, 0 while they are read from the primary instead of it.",
})

export interface StandbyOptions {
  /** Its URL; the login and the database in it are not used. */
  readonly url: string
  readonly maxLagMillis: number
  /** The reader's options on the primary. */
  readonly reader: ReaderOptions
}

/** The standby's URL with the login and the database that the reader has on the primary. */
const standbyAddress = (standbyUrl: string, readerUrl: string): string => {
  const [standby, reader] = [new URL(standbyUrl), new URL(readerUrl)]
  standby.username = reader.username
  standby.password = reader.password
  standby.pathname = reader.pathname
  return standby.toString()
}

interface WatchOptions {
  readonly primary: StatementClient["Service"]
  /** A separate session on the standby, so that a check never waits behind reads. */
  readonly standby: PgClient.PgClient
  readonly route: ServerRoute
  readonly clock: Clock.Clock
  readonly maxLagMillis: number
  readonly gauges: LiveGauges
  /** The database's name, on the metrics. */
  readonly database: string
}

/** Checks the standby, and knows whether it may be read from now. */
class StandbyWatch {
  readonly #options: WatchOptions
  readonly #lag = new ReplayLag()
  /** The standby's problem besides its lag; null without one. Every check sets it, and `setAside`. */
  #reason: string | null = "It has not been checked yet."
  /** The reason that was logged last; undefined before the first check. Only `#log` uses it. */
  #logged: string | null | undefined
  #soughtAt = Number.NEGATIVE_INFINITY

  constructor(options: WatchOptions) {
    this.#options = options
  }

  isNear(): boolean {
    return this.#reason === null && this.#behind() <= this.#options.maxLagMillis
  }

  isLost(): boolean {
    return this.#reason !== null
  }

  /** Set until the next check: a read got no response. */
  setAside(): void {
    this.#reason = "It did not respond to a read."
    this.#lag.forget()
  }

  state(): StandbyState {
    const { maxLagMillis } = this.#options
    const behind = this.#behind()
    const lagMillis = Number.isFinite(behind) ? behind : null
    const used = this.isNear()
    const far = lagMillis === null ? "It has not caught up yet." : `It is more than ${maxLagMillis / 1000} s behind.`
    return { used, lagMillis, maxLagMillis, reason: used ? null : (this.#reason ?? far) }
  }

  /** One round of the background check. */
  get round(): Effect.Effect<void> {
    return this.#check.pipe(Effect.andThen(this.#log), Effect.andThen(this.#measure))
  }

  /** Its state, once it is near or has had enough time to come near. */
  get settled(): Effect.Effect<StandbyState> {
    return Effect.gen({ self: this }, function* () {
      const { clock } = this.#options
      const last = clock.currentTimeMillisUnsafe() + SETTLE_MILLIS
      for (;;) {
        yield* this.#check
        if (this.isNear() || clock.currentTimeMillisUnsafe() > last) return this.state()
        yield* Effect.sleep("200 millis")
      }
    })
  }

  #behind(): number {
    return this.#lag.at(this.#options.clock.currentTimeMillisUnsafe())
  }

  get #check(): Effect.Effect<void> {
    return this.#compare.pipe(
      connectionLossAsError,
      Effect.timeoutOrElse({
        duration: STANDBY_TIMEOUT,
        orElse: () => Effect.succeed("It does not respond in time."),
      }),
      Effect.catch((error: SqlError.SqlError) => Effect.succeed(`It cannot be queried: ${sqlMessage(error)}.`)),
      Effect.map((reason) => {
        this.#reason = reason
        if (reason === null) return
        // Only samples of a healthy standby count; start over.
        this.#lag.forget()
        this.#seekAnother()
      }),
    )
  }

  /** Takes a sample of the lag; returns the standby's problem. */
  get #compare(): Effect.Effect<string | null, SqlError.SqlError> {
    return Effect.gen({ self: this }, function* () {
      const { primary, standby, clock } = this.#options
      const at = clock.currentTimeMillisUnsafe()
      const [here] = yield* primary.unsafe<{ place: string; system: string }>(PRIMARY)
      this.#lag.primaryAt(at, Number(here!.place))
      const [there] = yield* standby.unsafe<{ standby: boolean; place: string | null; system: string }>(STANDBY)
      if (there!.system !== here!.system) return "It is not a copy of this database: correct DATABASE_READ_URL."
      if (!there!.standby) return "It is not a standby but a primary: correct DATABASE_READ_URL."
      this.#lag.replayed(Number(there!.place ?? 0))
      return null
    })
  }

  /** Of several servers, another may be a standby. */
  #seekAnother(): void {
    const { clock, route } = this.#options
    const now = clock.currentTimeMillisUnsafe()
    if (route.servers.length === 1 || now - this.#soughtAt < SEEK_MILLIS) return
    this.#soughtAt = now
    route.leave()
  }

  get #log(): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { used, reason } = this.state()
      if (reason === this.#logged) return Effect.void
      const first = this.#logged === undefined
      this.#logged = reason
      if (used) return first ? Effect.void : Effect.logInfo("rows are read from the standby again")
      return Effect.logWarning(`rows are read from the primary, not from the standby: ${reason}`)
    })
  }

  get #measure(): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { used, lagMillis } = this.state()
      const { gauges, database } = this.#options
      const labels = { database }
      return gauges.show([
        { gauge: lagGauge, labels, value: (lagMillis ?? Number.POSITIVE_INFINITY) / 1000 },
        { gauge: usedGauge, labels, value: used ? 1 : 0 },
      ])
    })
  }
}

export const layer = (options: StandbyOptions) =>
  Layer.effect(
    ReaderClient,
    Effect.gen(function* () {
      const reader = yield* ReaderClient
      const { maxLagMillis } = options
      const pools = { ...options.reader, url: standbyAddress(options.url, options.reader.url) }
      const sessions = yield* readerSessions(pools)
      const watching = SessionPool.layer({
        url: pools.url,
        maxConnections: 1,
        connectTimeout: STANDBY_TIMEOUT,
        applicationName: "data-cabinet standby watch",
        settings: short(2_000),
      })
      const { route } = yield* connectionOf(pools.url)
      // A pooler may refuse settings at the opening, which the first search finds out.
      if (route.probes === 0) route.suspect()
      const watch = new StandbyWatch({
        primary: yield* StatementClient,
        standby: Context.get(yield* Layer.build(Layer.fresh(watching)), PgClient.PgClient),
        route,
        clock: yield* Clock.Clock,
        maxLagMillis,
        gauges: yield* liveGauges,
        database: decodeURIComponent(new URL(pools.url).pathname.slice(1)),
      })
      yield* background("standby watch", Math.max(50, Math.min(1_000, maxLagMillis / 5)), watch.round)
      const standby: Standby = {
        sessions,
        isNear: () => watch.isNear(),
        isLost: () => watch.isLost(),
        setAside: () => watch.setAside(),
        settled: watch.settled,
      }
      return ReaderClient.of({ ...reader, standby: Option.isSome(reader.sessions) ? standby : undefined })
    }),
  ).pipe(Layer.provide(primaryReader(options.reader)))
