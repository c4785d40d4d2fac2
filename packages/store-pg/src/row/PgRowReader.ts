/**
 * Reads rows in the reader's own sessions, which are read-only, in UTC and under time limits from the start. `ReadRows`
 * runs a read and looks after its session; this module decides when, on which server and for how long.
 *
 * A standby with little lag is tried first. The primary runs the read in the remaining time if the standby's connection is
 * lost, a table is newer than its state, or its replay cancelled the query.
 */
import { type AbortableCall, OwnCall, withDeadline } from "@data-cabinet/core/runtime/AbortableCall"
import type { Deadline } from "@data-cabinet/core/runtime/Deadline"
import { type TimerWheel, timerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import { type PageQuery, type ReadResult, RowReader } from "@data-cabinet/core/row/RowReader"
import { quoteQualified } from "@data-cabinet/core/row/SqlName"
import { Effect, Layer, Option, Result } from "effect"
import { StatementClient } from "../connection/OwnerClient.ts"
import { ReaderClient, type Standby } from "../connection/ReaderClient.ts"
import { isolatedOf, partOf } from "../connection/ReaderSessions.ts"
import { cannotBeEnded, endReader } from "../connection/ReaderEnd.ts"
import { type EndedSession, SessionEnds } from "../connection/SessionEnd.ts"
import { ReadGroups } from "./ReadGroups.ts"
import { type HeldSlots, ReadLimiter } from "./ReadLimiter.ts"
import { OVER_TIME, queryTimeout, readerOff } from "./ReadErrorOf.ts"
import { readGroup, type ReadTarget, readRows, type RowQuery } from "./ReadRows.ts"
import { type SlowReads, slowReads } from "./SlowReads.ts"

/** How long a read waits for its turn, in milliseconds, before it is refused and the caller has to retry. */
const READ_TIMEOUT_MILLIS = 8_000

/** How far past its time limit a query may run, in milliseconds, before the database counts as frozen. */
const FROZEN_AFTER_MILLIS = 1_500

/** How far past its time limit a query may run, in milliseconds, before it counts as evading the limit. */
const EVADED_AFTER_MILLIS = 250

/** With less time left than this, in milliseconds, the primary is not tried after a standby. */
const MIN_REMAINING_MILLIS = 500

/** How often a standby is checked while reads wait for it, in milliseconds. */
const LOST_CHECK_MILLIS = 500

const frozen: ReadResult = Result.fail(readerOff("The reader's database does not respond."))

const overTime: ReadResult = Result.fail(queryTimeout(OVER_TIME))

const busy: ReadResult = Result.fail(queryTimeout("Too many reads are waiting: this one could not start in time."))

export const layer = Layer.effect(
  RowReader,
  Effect.gen(function* () {
    const { sessions, role, maxConnections, statementTimeoutMillis, offReason, standby } = yield* ReaderClient
    const owner = yield* StatementClient
    if (Option.isNone(sessions)) {
      const off = Result.fail(readerOff(offReason))
      return RowReader.of({ read: async () => off })
    }
    const wheel = yield* timerWheel
    const turns = new ReadLimiter({
      slots: maxConnections,
      share: partOf(maxConnections, 3 / 4),
      isolated: { slots: isolatedOf(maxConnections), share: partOf(maxConnections, 1 / 2) },
      queueTimeoutMillis: READ_TIMEOUT_MILLIS,
      wheel,
    })
    const limit = statementTimeoutMillis + FROZEN_AFTER_MILLIS

    const ofPrimary = yield* SessionEnds.make
    const ofStandby = yield* SessionEnds.make
    const timing = { wheel, millis: statementTimeoutMillis + EVADED_AFTER_MILLIS }
    const primary = targetOf({ ...timing, sessions: sessions.value }, ofPrimary, (session) =>
      endReader({ owner, own: sessions.value, role }, session),
    )

    // A frozen server neither enforces time limits nor handles a cancel. The caller still gets a response, and the
    // connection ends on its own.
    const readOn = (target: ReadTarget, query: RowQuery, deadline: Deadline, call: AbortableCall) =>
      withDeadline(wheel, call, deadline, frozen, (own) => readRows(target, query, own))
    const readOnPrimary = async (query: RowQuery, deadline: Deadline, call: AbortableCall, slots: HeldSlots) => {
      let reading: Promise<ReadResult> | undefined
      const read = await withDeadline(wheel, call, deadline, frozen, (own) => (reading = readRows(primary, query, own)))
      if (read !== frozen || reading === undefined) return read
      slots.hold(reading)
      return ofPrimary.isOutlived(workOn(query.object)) ? overTime : read
    }
    const slow = yield* slowReads(owner)
    const readNear = async (
      near: Standby,
      target: ReadTarget,
      query: RowQuery,
      call: AbortableCall,
      slots: HeldSlots,
    ) => {
      const deadline = wheel.now() + limit
      // A standby that does not respond keeps no slot: the primary serves the reads meanwhile.
      const read = await untilLost(wheel, near, call, (own) => readOn(target, query, deadline, own))
      if (Result.isSuccess(read) || read.failure._tag === "RefusedValue" || call.isAborted) return read
      const code = read.failure._tag === "ReadError" ? read.failure.code : undefined
      if (code === "reader_off") near.setAside()
      if (code === "query_timeout" || deadline - wheel.now() < MIN_REMAINING_MILLIS) return read
      return readOnPrimary(query, deadline, call, slots)
    }
    const away =
      standby === undefined
        ? undefined
        : targetOf({ ...timing, sessions: standby.sessions }, ofStandby, (session) =>
            standby.sessions.end(session).pipe(Effect.catch(() => Effect.logWarning(cannotBeEnded(session.work)))),
          )
    const groups = new ReadGroups({
      wheel,
      turns,
      busy,
      single: (query, call, slots) => readOnPrimary(query, wheel.now() + limit, call, slots),
      group: (queries, call) => readGroup(primary, queries, call),
      took: (page, millis) => slow.note(page, millis),
    })
    const read = (query: RowQuery, call: AbortableCall): Promise<ReadResult> =>
      standby?.isNear() === true && away !== undefined
        ? turns.run({ object: query.object, runsNoUserCode: query.page.runsNoUserCode }, call, busy, (slots) =>
            timed(slow, wheel, query, () => readNear(standby, away, query, call, slots)),
          )
        : groups.read(query, call)
    return RowReader.of({ read: (query, call) => read(rowQuery(query), call) })
  }),
)

const workOn = (object: string) => `a read of ${object}`

const targetOf = (
  of: Omit<ReadTarget, "end">,
  ending: SessionEnds,
  end: (session: Omit<EndedSession, "role">) => Effect.Effect<void>,
): ReadTarget => ({
  ...of,
  end: (pid, object) => {
    const work = workOn(object)
    return ending.end(pid, work, (onAsked) => end({ pid, work, onAsked }))
  },
})

const rowQuery = (page: PageQuery): RowQuery => {
  const { detail, catalogVersion, oid, owner } = page.table
  return {
    page,
    object: quoteQualified(detail.schema, detail.name),
    expectedVersion: catalogVersion === null ? null : { oid, catalogVersion, owner },
  }
}

const timed = async (slow: SlowReads, wheel: TimerWheel, { page }: RowQuery, read: () => Promise<ReadResult>) => {
  const began = wheel.now()
  const result = await read()
  if (page.runsNoUserCode) slow.note(page, wheel.now() - began)
  return result
}

/** Ends a read on a frozen standby without waiting for its time limit. */
const untilLost = (
  wheel: TimerWheel,
  near: Standby,
  call: AbortableCall,
  work: (call: AbortableCall) => Promise<ReadResult>,
): Promise<ReadResult> =>
  new Promise((resolve, reject) => {
    const own = new OwnCall(call.deadline, call.context)
    const stopListening = call.onAbort(() => own.abort())
    let stopWatch = () => {}
    const look = () => {
      if (near.isLost()) {
        resolve(frozen)
        own.abort()
      } else stopWatch = wheel.watch({ deadline: wheel.now() + LOST_CHECK_MILLIS, expire: look })
    }
    look()
    void work(own)
      .then(resolve, reject)
      .finally(() => {
        stopWatch()
        stopListening()
      })
  })
