/**
 * Reads short pages of the same object in groups. A read that gets its turn takes along up to three waiting ones: one write
 * to PostgreSQL, and one proof after all the pages. It never takes more than half of the waiting reads, so that the
 * object's other turns stay in use.
 *
 * No read depends on another. Only pages whose statements were quick recently are read in groups. If any page fails, each
 * is read again separately. A slow group is cancelled, its pages are read separately, and the object is not read in groups
 * for a while. So a client with slow reads, or with values that are refused, delays others by little more than
 * `PATIENCE_MILLIS`, and only once in `ISOLATED_MILLIS`.
 *
 * Decision: docs/decisions/0054-waiting-pages-are-read-in-groups.md
 */
import { type AbortableCall, OwnCall, withDeadline } from "@data-cabinet/core/runtime/AbortableCall"
import type { ReadableTable } from "@data-cabinet/core/row/Catalog"
import type { Deadline } from "@data-cabinet/core/runtime/Deadline"
import type { TimerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import type { PageQuery, ReadResult } from "@data-cabinet/core/row/RowReader"
import { Result } from "effect"
import type { HeldSlots, ReadLimiter } from "./ReadLimiter.ts"
import type { GroupRead, RowQuery } from "./ReadRows.ts"
import { PageTimes } from "./PageTimes.ts"
import { hasLongRows } from "./RowPage.ts"

/** The most reads that one read takes along. */
const MAX_OTHERS = 3

/** A page with a higher limit is read separately. */
const MOST_ROWS = 100

/** How long a group may take, in milliseconds, before its pages are read one by one; the timer wheel adds up to one tick. */
const PATIENCE_MILLIS = 100

/** How long an object is read without groups after a group was slow or failed, in milliseconds. */
const ISOLATED_MILLIS = 5_000

export interface Reads {
  readonly wheel: TimerWheel
  readonly turns: ReadLimiter
  /** The result of a read that did not get a turn in time. */
  readonly busy: ReadResult
  /** Reads one page in one turn. */
  readonly single: (query: RowQuery, call: AbortableCall, slots: HeldSlots) => Promise<ReadResult>
  /** Reads several pages of one table in one turn. */
  readonly group: (queries: ReadonlyArray<RowQuery>, call: AbortableCall) => Promise<GroupRead>
  /** Called with the duration of each page that was read alone and runs no customer's code. */
  readonly took: (page: PageQuery, millis: number) => void
}

/** A read waiting for its turn. */
class WaitingRead {
  readonly query: RowQuery
  readonly call: AbortableCall
  /** Its place in the queue, which it leaves when another read takes it along. */
  readonly line: OwnCall
  readonly settle: (result: ReadResult | Promise<ReadResult>) => void
  isTaken = false

  constructor(query: RowQuery, call: AbortableCall, settle: (result: ReadResult | Promise<ReadResult>) => void) {
    this.query = query
    this.call = call
    this.line = new OwnCall(call.deadline, call.context)
    this.settle = settle
  }
}

export class ReadGroups {
  readonly #reads: Reads
  /** Waiting reads by the version of the object that they found, so that all reads of a queue expect the same one. */
  readonly #waiting = new Map<ReadableTable, Array<WaitingRead>>()
  /** Until when an object is not read in groups. */
  readonly #isolated = new WeakMap<ReadableTable, Deadline>()
  readonly #times = new PageTimes()

  constructor(reads: Reads) {
    this.#reads = reads
  }

  read(query: RowQuery, call: AbortableCall): Promise<ReadResult> {
    const { turns, busy } = this.#reads
    const of = turnOf(query)
    if (turns.isFree(of) || !isShort(query) || this.#isApart(query.page.table)) {
      return turns.run(of, call, busy, (slots) => this.#single(query, call, slots))
    }
    return new Promise((resolve) => {
      const one = new WaitingRead(query, call, resolve)
      const stopListening = call.onAbort(() => one.line.abort())
      this.#enter(one)
      const own = turns
        .run(of, one.line, busy, (slots) => this.#turn(one, slots))
        .finally(() => {
          stopListening()
          this.#leave(one)
        })
      // A read that joined a group gets the group's result; this one only says that it left the queue.
      const left = () => {
        if (!one.isTaken) resolve(own)
      }
      own.then(left, left)
    })
  }

  #turn(first: WaitingRead, slots: HeldSlots): Promise<ReadResult> {
    this.#leave(first)
    // Another read took it along after it had got its turn.
    if (first.isTaken) return Promise.resolve(this.#reads.busy)
    const others = this.#take(first.query.page)
    return others.length === 0 ? this.#single(first.query, first.call, slots) : this.#readGroup(first, others, slots)
  }

  async #single(query: RowQuery, call: AbortableCall, slots: HeldSlots): Promise<ReadResult> {
    const began = this.#reads.wheel.now()
    const result = await this.#reads.single(query, call, slots)
    if (query.page.runsNoUserCode) {
      const millis = this.#reads.wheel.now() - began
      this.#times.note(query.page, millis)
      this.#reads.took(query.page, millis)
    }
    return result
  }

  /** Takes other reads out of the queue whose pages are as quick as this one. */
  #take(page: PageQuery): ReadonlyArray<WaitingRead> {
    const line = this.#waiting.get(page.table)
    if (line === undefined || this.#isApart(page.table) || !this.#times.isQuick(page)) return []
    const most = Math.min(MAX_OTHERS, line.length >> 1)
    const others: Array<WaitingRead> = []
    for (let at = 0; at < line.length && others.length < most; at++) {
      const other = line[at]!
      if (!this.#times.isQuick(other.query.page)) continue
      line.splice(at--, 1)
      others.push(other)
      other.isTaken = true
      other.line.abort()
    }
    return others
  }

  /** Reads a group, settles the other reads, and returns the result of the first. */
  async #readGroup(first: WaitingRead, others: ReadonlyArray<WaitingRead>, slots: HeldSlots): Promise<ReadResult> {
    const { wheel, turns, busy, group } = this.#reads
    const all = [first, ...others]
    const began = wheel.now()
    const call = new OwnCall(began + PATIENCE_MILLIS, first.call.context)
    const leave = () => {
      if (all.every((each) => each.call.isAborted)) call.abort()
    }
    const stopListening = all.map((each) => each.call.onAbort(leave))
    const queries = all.map(({ query }) => query)
    let reading: Promise<GroupRead> | undefined
    const read = await withDeadline<GroupRead>(
      wheel,
      call,
      call.deadline,
      "failed",
      (own) => (reading = group(queries, own)),
    ).catch(
      // If the fault persists, the single read that hits it reports it.
      (): GroupRead => "failed",
    )
    if (read === "failed" && reading !== undefined) slots.hold(reading)
    for (const stop of stopListening) stop()
    const millis = (wheel.now() - began) / all.length
    for (const { page } of queries) this.#times.note(page, millis)
    if (read === "failed") this.#isolated.set(first.query.page.table, wheel.now() + ISOLATED_MILLIS)
    if (typeof read !== "string") {
      for (const [index, other] of others.entries()) other.settle(Result.succeed(read[index + 1]!))
      return Result.succeed(read[0]!)
    }
    for (const { query, call: its, settle } of others) {
      settle(turns.run(turnOf(query), its, busy, (own) => this.#single(query, its, own)))
    }
    return this.#single(first.query, first.call, slots)
  }

  #isApart(table: ReadableTable): boolean {
    const until = this.#isolated.get(table)
    return until !== undefined && until > this.#reads.wheel.now()
  }

  #enter(one: WaitingRead): void {
    const { table } = one.query.page
    const line = this.#waiting.get(table)
    if (line === undefined) this.#waiting.set(table, [one])
    else line.push(one)
  }

  #leave(one: WaitingRead): void {
    const { table } = one.query.page
    const line = this.#waiting.get(table)
    if (line === undefined) return
    const at = line.indexOf(one)
    if (at !== -1) line.splice(at, 1)
    if (line.length === 0) this.#waiting.delete(table)
  }
}

const turnOf = ({ object, page }: RowQuery) => ({ object, runsNoUserCode: page.runsNoUserCode })

/** Whether a read may join a group: it runs no customer's code, is planned as before, and returns little. */
const isShort = ({ page }: RowQuery): boolean =>
  page.runsNoUserCode && !page.replan && page.limit <= MOST_ROWS && !hasLongRows(page.table)
