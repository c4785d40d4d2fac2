/** The work of a rebuild: copies the rows, builds the indexes, follows the changes, and puts the new table in its place. */
import type { RebuildProgress, RebuildResult } from "@data-cabinet/core/row/RebuildState"
import { NotRebuilt, type RebuildPlan } from "@data-cabinet/core/row/RebuildStore"
import { quoteName } from "@data-cabinet/core/row/SqlName"
import type { PgClient } from "@effect/sql-pg"
import { Clock, Effect, Result } from "effect"
import { SqlError } from "effect/sql"
import { type Ask, endSession } from "../connection/SessionEnd.ts"
import { connectionLossAsError, isConflict } from "../connection/StoreFailure.ts"
import { Cancels } from "../connection/Uncancelled.ts"
import type { FoundIndex } from "./RebuildFacts.ts"
import { type Held, hold } from "./RebuildLease.ts"
import { RebuildPace } from "./RebuildPace.ts"
import { RebuildRows } from "./RebuildRows.ts"
import * as Statement from "./RebuildStatement.ts"
import { SOURCES_SCHEMA } from "./SourceTable.ts"
import { lockOld, replaceOld } from "./RebuildSwap.ts"

type Sql = PgClient.PgClient

const SLICE_ROWS = 1_000
/** The swap is tried while at most this many changes are left: they are written under the lock. */
const FEW_CHANGES = 50
/** The lock is tried for about two minutes: at first often, then at longer intervals. */
const SWAP_ATTEMPTS = 120
const SWAP_PAUSE = "250 millis"
const LATER_PAUSE = "1500 millis"
const BUSY_SECONDS = 120
/** The progress is stored this often. */
const SAY_MILLIS = 500
/** A swap that takes longer is ended with its session. */
const SWAP_MILLIS = 10_000

export class Rebuild {
  readonly #sql: Sql
  readonly #held: Held
  readonly #table: string
  readonly #plan: RebuildPlan
  readonly #rows: RebuildRows
  readonly #expected: number
  readonly #report: (progress: RebuildProgress) => Effect.Effect<void>
  readonly #ask: Ask
  /** The names of indexes until the swap, and afterwards. */
  readonly #indexes = new Map<string, string>()
  #done = 0
  #isSwapping = false
  /** The progress that was stored last. */
  #said: { readonly step: string; readonly at: number } = { step: "", at: 0 }

  constructor(
    sql: Sql,
    held: Held,
    given: {
      readonly table: string
      readonly plan: RebuildPlan
      readonly rows: number
      readonly report: (progress: RebuildProgress) => Effect.Effect<void>
      readonly ask: Ask
      readonly cold: ConstructorParameters<typeof RebuildRows>[3]
    },
  ) {
    this.#sql = sql
    this.#held = held
    this.#table = given.table
    this.#plan = given.plan
    this.#expected = given.rows
    this.#report = given.report
    this.#ask = given.ask
    this.#rows = new RebuildRows(sql, held.sourceId, given.plan, given.cold)
  }

  /** Whether the transaction that ends the rebuild has begun, which also ends the lease. */
  get isSwapping(): boolean {
    return this.#isSwapping
  }

  get run() {
    return Effect.gen({ self: this }, function* () {
      yield* this.#copy
      yield* this.#buildIndexes
      const lockedMillis = yield* this.#swap
      return { id: this.#held.id, rows: this.#done, columns: this.#rows.columns, lockedMillis, plan: this.#plan }
    })
  }

  /** Stores the progress now and then, and reports it. */
  #say(step: RebuildProgress["step"]) {
    return Effect.gen({ self: this }, function* () {
      const now = yield* Clock.currentTimeMillis
      const rows = Math.max(this.#expected, this.#done)
      if (step !== this.#said.step || now - this.#said.at >= SAY_MILLIS) {
        this.#said = { step, at: now }
        const { sourceId, id } = this.#held
        yield* connectionLossAsError(this.#sql.unsafe(Statement.SAY, [sourceId, id, step, this.#done, rows]))
      }
      yield* this.#report({ step, done: this.#done, rows })
    })
  }

  /** Copies the rows in their order. Those that change meanwhile follow. */
  get #copy() {
    return Effect.gen({ self: this }, function* () {
      const next = Statement.nextRows(Statement.oldTable(this.#table))
      const pace = new RebuildPace()
      for (let last = "-9223372036854775808"; ;) {
        const [from, most] = [last, pace.rows]
        const work = connectionLossAsError(
          this.#rows.inTransaction(
            Effect.gen({ self: this }, function* () {
              yield* hold(this.#sql, this.#held)
              yield* this.#rows.old
              const ids = (yield* this.#sql.unsafe<{ id: string }>(next, [from, most])).map(({ id }) => id)
              yield* this.#rows.write(ids)
              if (ids.length > 0) yield* this.#sql.unsafe(Statement.MOVE, [this.#held.id, ids.at(-1)])
              return ids
            }),
          ),
        )
        const copied = yield* pace.slice(work)
        this.#done += copied.length
        yield* this.#say("rows")
        if (copied.length < most) return
        last = copied.at(-1)!
      }
    })
  }

  get #buildIndexes() {
    return Effect.gen({ self: this }, function* () {
      const found = yield* this.#sql.unsafe<FoundIndex>(Statement.INDEXES, [Statement.oldTable(this.#table)])
      const copied = found.filter(({ name }) => this.#plan.copied.includes(name))
      const relation = Statement.newTable(this.#held.sourceId)
      yield* this.#say("indexes")
      for (const [index, { name, definition, head, isUnique }] of copied.entries()) {
        const present = `${Statement.newTableOf(this.#held.sourceId)}_${index + 1}`
        const create = `CREATE ${isUnique ? "UNIQUE " : ""}INDEX ${quoteName(present)} ON ${relation} ${definition.slice(head.length)}`
        yield* this.#patient(create)
        this.#indexes.set(present, name)
      }
      yield* this.#patient(`ANALYZE ${relation}`)
    })
  }

  #patient(statement: string) {
    const sql = this.#sql
    const work = Effect.andThen(sql`SET LOCAL statement_timeout = 0`, sql.unsafe(statement))
    // Whoever took the lease meanwhile has removed the table: then that is the reason.
    const orEnded = Effect.tapError(sql.withTransaction(work), () => sql.withTransaction(hold(sql, this.#held)))
    return Effect.provideService(connectionLossAsError(orEnded), Cancels, true)
  }

  /** Writes changed rows until few are left. Takes a transaction for each slice. */
  get #catchUp() {
    return Effect.gen({ self: this }, function* () {
      for (;;) {
        const taken = yield* connectionLossAsError(
          this.#rows.inTransaction(
            Effect.gen({ self: this }, function* () {
              yield* hold(this.#sql, this.#held)
              return yield* this.#writeChanges(SLICE_ROWS)
            }),
          ),
        )
        yield* this.#say("changes")
        if (taken < FEW_CHANGES) return
      }
    })
  }

  /** Returns how many changes it took off the list. The rows are read in a later snapshot than the list. */
  #writeChanges(limit: number) {
    return Effect.gen({ self: this }, function* () {
      const { sourceId } = this.#held
      const changes = yield* this.#sql.unsafe<{ id: string | null }>(Statement.TAKE_CHANGES, [sourceId, limit])
      if (changes.some(({ id }) => id === null)) return yield* new NotRebuilt({ fact: { is: "emptied" } })
      yield* this.#rows.write(changes.map(({ id }) => id!))
      return changes.length
    })
  }

  /** Returns how long the table was locked. */
  get #swap() {
    return Effect.gen({ self: this }, function* () {
      for (let attempt = 1; ; attempt++) {
        yield* this.#catchUp
        yield* this.#say("swap")
        this.#isSwapping = true
        const tried = yield* Effect.result(this.#trySwap)
        if (Result.isSuccess(tried)) return tried.success
        this.#isSwapping = false
        if (!SqlError.isSqlError(tried.failure) || !isConflict(tried.failure)) return yield* Effect.fail(tried.failure)
        if (attempt >= SWAP_ATTEMPTS) return yield* new NotRebuilt({ fact: { is: "busy", seconds: BUSY_SECONDS } })
        yield* Effect.sleep(attempt < SWAP_ATTEMPTS / 2 ? SWAP_PAUSE : LATER_PAUSE)
      }
    })
  }

  get #trySwap() {
    return connectionLossAsError(
      this.#rows.inTransaction(
        Effect.gen({ self: this }, function* () {
          const sql = this.#sql
          const { sourceId } = this.#held
          yield* hold(sql, this.#held)
          let began = 0
          const work = Effect.gen({ self: this }, function* () {
            yield* lockOld(sql, sourceId, this.#table)
            began = yield* Clock.currentTimeMillis
            while ((yield* this.#writeChanges(SLICE_ROWS)) > 0);
            yield* this.#rows.old
            const columns = this.#rows.columns
            yield* replaceOld(sql, { sourceId, table: this.#table, columns, indexes: this.#indexes })
          })
          yield* this.#inTime(work)
          yield* sql.unsafe(Statement.FORGET_CHANGES, [sourceId])
          const lockedMillis = (yield* Clock.currentTimeMillis) - began
          const result = JSON.stringify(this.#resultOf(lockedMillis))
          yield* sql.unsafe(Statement.FINISH, [sourceId, this.#held.id, "done", null, null, result])
          yield* sql.unsafe(Statement.END, [this.#held.id])
          return lockedMillis
        }),
      ),
    )
  }

  /** The indexes that are built afterwards count as missing, until it is known which could not be built. */
  #resultOf(lockedMillis: number): RebuildResult {
    return {
      table: `${SOURCES_SCHEMA}.${this.#table}`,
      rows: this.#done,
      columns: this.#rows.columns.map(({ name }) => name),
      lockedMillis,
      indexesMissing: this.#plan.later.map(({ name }) => `${name}: not built yet`),
    }
  }

  /** Ends the transaction's session if the work under the lock takes too long: a view's code may not end by itself. */
  #inTime<A, E, R>(work: Effect.Effect<A, E, R>) {
    const sql = this.#sql
    const name = `replacing the table of source ${this.#held.sourceId}`
    return Effect.flatMap(sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`, ([session]) => {
      const end = Effect.ignore(endSession(this.#ask, { pid: session!.pid, role: null, work: name }))
      return Effect.acquireUseRelease(
        Effect.forkDetach(Effect.andThen(Effect.sleep(SWAP_MILLIS), end)),
        () => work,
        (watch) => Effect.sync(() => watch.interruptUnsafe()),
      )
    })
  }
}
