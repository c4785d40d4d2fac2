/**
 * The work of cabinets that are not open anywhere: due deliveries, polls, maintenance. A process that does background
 * work visits them in turn, reads over a short connection when each has work due next, and opens it then. A process
 * that uses a cabinet signals it to the others, so that its deliveries go out at once.
 *
 * The guarantees: a cabinet in use in any process is served as if it were alone; a retry or a poll of an unused cabinet
 * starts within CHECK_INTERVAL of its time; and a lost signal is made up for within REST.
 */
import { background } from "@data-cabinet/core/runtime/Background"
import * as PgCabinetSignal from "@data-cabinet/store-pg/tenancy/PgCabinetSignal"
import { nextDue } from "@data-cabinet/store-pg/maintenance/NextDue"
import { inSlices } from "@data-cabinet/core/runtime/InSlices"
import { Clock, Effect, Random, Semaphore } from "effect"
import type { TenantPool } from "./TenantPool.ts"

const CHECK_INTERVAL = "5 seconds"
const CHECK_AGAIN_MILLIS = 5 * 60_000
/** The shortest interval between two checks of a cabinet, whatever it reports. */
const MIN_CHECK_MILLIS = 10_000
/** How long a cabinet is kept open for its work; like any other, it also stays open while in use. */
const KEEP_OPEN = "1 minute"
/** Every cabinet is opened once per interval for its maintenance. */
const MAINTENANCE_MILLIS = 12 * 3_600_000
/** Concurrent checks and openings of cabinets. */
const MAX_CONCURRENT_CHECKS = 4

/** When a cabinet is to be visited next. */
interface Visits {
  /** When to check for due work, in milliseconds of the clock. */
  dueAt: number
  maintenanceAt: number
}

/** Forks into the scope. `originalDays`: whole days that original requests are kept. */
export const tenantScheduler = Effect.fnUntraced(function* (many: TenantPool, originalDays: number) {
  const planned = new Map<string, Visits>()
  const scope = yield* Effect.scope

  /** The cabinets kept open, and whether each was signalled again meanwhile. */
  const held = new Map<string, boolean>()
  const opening = yield* Semaphore.make(MAX_CONCURRENT_CHECKS)
  const whileNamed = (name: string) =>
    Effect.sleep(KEEP_OPEN).pipe(
      Effect.repeat({
        while: () => {
          const named = held.get(name) === true
          held.set(name, false)
          return named
        },
      }),
    )

  /** However often it is called for a cabinet, the cabinet is opened once, and once per interval if it cannot be opened. */
  const openFor = (name: string) =>
    Effect.suspend(() => {
      const isHeld = held.has(name)
      held.set(name, isHeld)
      if (isHeld) return Effect.void
      return Effect.scoped(Effect.andThen(opening.withPermit(many.hold(name)), whileNamed(name))).pipe(
        Effect.catch(() => Effect.sleep(MIN_CHECK_MILLIS)),
        Effect.ensuring(Effect.sync(() => held.delete(name))),
        Effect.forkIn(scope),
        Effect.asVoid,
      )
    })

  const look = Effect.fnUntraced(function* (name: string, url: string, visits: Visits) {
    const now = yield* Clock.currentTimeMillis
    // A database that cannot be queried is retried later; users of the cabinet see the failure in its own responses.
    const seconds = yield* nextDue(url, originalDays).pipe(Effect.catch(() => Effect.succeed(null)))
    const due = seconds === null ? CHECK_AGAIN_MILLIS : Math.min(CHECK_AGAIN_MILLIS, seconds * 1_000)
    if (due <= 0 || visits.maintenanceAt <= now) {
      visits.maintenanceAt = now + MAINTENANCE_MILLIS
      yield* openFor(name)
    }
    visits.dueAt = now + Math.max(due, MIN_CHECK_MILLIS)
  })

  const round = Effect.gen(function* () {
    yield* many.reload
    const now = yield* Clock.currentTimeMillis
    const random = yield* Random.Random
    const open = new Set(yield* many.open)
    const wanted: Array<readonly [name: string, url: string, visits: Visits]> = []
    yield* inSlices(planned.keys(), (name) => {
      if (!many.known.has(name)) planned.delete(name)
    })
    yield* inSlices(many.known, ([name, { databaseUrl }]) => {
      let visits = planned.get(name)
      if (visits === undefined) {
        // Spread over time, so that a starting server does not open them all at once.
        visits = { dueAt: 0, maintenanceAt: now + random.nextDoubleUnsafe() * MAINTENANCE_MILLIS }
        planned.set(name, visits)
      }
      if (open.has(name)) visits.dueAt = 0
      else if (visits.dueAt <= now) wanted.push([name, databaseUrl, visits])
    })
    yield* Effect.forEach(wanted, ([name, url, visits]) => look(name, url, visits), {
      concurrency: MAX_CONCURRENT_CHECKS,
      discard: true,
    })
  })
  yield* background("tenant round", CHECK_INTERVAL, round)
  yield* PgCabinetSignal.listen((name) => many.known.has(name), openFor).pipe(Effect.forkScoped)
})
