/**
 * The work of cabinets that nobody has open: deliveries that come due, polls, upkeep. A process that works goes round
 * them, asks each on a short connection when it next wants something, and opens it then. A cabinet in use elsewhere is
 * told of by that process, so that its deliveries go out at once.
 *
 * What this gives: a cabinet in use in any process is served as if it were alone; a retry or a poll of a cabinet that
 * nobody uses starts within CHECK_INTERVAL of its time; and a word that was lost is made up for within REST.
 */
import * as PgCabinetSignal from "@data-cabinet/store-pg/tenancy/PgCabinetSignal"
import { nextDue } from "@data-cabinet/store-pg/maintenance/NextDue"
import { Clock, Effect, Random, Schedule, Semaphore } from "effect"
import type { TenantPool } from "./TenantPool.ts"

const CHECK_INTERVAL = "5 seconds"
const REST_MILLIS = 5 * 60_000
/** Looked at no more often, whatever it says. */
const LEAST_MILLIS = 10_000
/** How long a cabinet is kept open for its work; it stays open as long as any other that is used, too. */
const HOLD = "1 minute"
/** Every cabinet is opened once in so long for its upkeep. */
const UPKEEP_MILLIS = 12 * 3_600_000
/** Looks, and openings of cabinets, under way at once. */
const LOOKS = 4

/** Forks into the scope. `originalDays`: whole days that original requests are kept. */
export const tenantScheduler = Effect.fnUntraced(function* (many: TenantPool, originalDays: number) {
  const dueAt = new Map<string, number>()
  const upkeepAt = new Map<string, number>()
  const scope = yield* Effect.scope

  /** The cabinets that are kept open, and whether each was named again meanwhile. */
  const held = new Map<string, boolean>()
  const opening = yield* Semaphore.make(LOOKS)
  const whileNamed = (name: string) =>
    Effect.sleep(HOLD).pipe(
      Effect.repeat({
        while: () => {
          const named = held.get(name) === true
          held.set(name, false)
          return named
        },
      }),
    )

  /** However often it is called for a cabinet, that is opened once, and once in so long where it cannot be. */
  const openFor = (name: string) =>
    Effect.suspend(() => {
      const isHeld = held.has(name)
      held.set(name, isHeld)
      if (isHeld) return Effect.void
      return Effect.scoped(Effect.andThen(opening.withPermit(many.hold(name)), whileNamed(name))).pipe(
        Effect.catch(() => Effect.sleep(LEAST_MILLIS)),
        Effect.ensuring(Effect.sync(() => held.delete(name))),
        Effect.forkIn(scope),
        Effect.asVoid,
      )
    })

  const look = Effect.fnUntraced(function* (name: string, url: string) {
    const now = yield* Clock.currentTimeMillis
    // A database that cannot be asked is tried again later; whoever uses the cabinet is told by its own answers.
    const seconds = yield* nextDue(url, originalDays).pipe(Effect.catch(() => Effect.succeed(null)))
    const due = seconds === null ? REST_MILLIS : Math.min(REST_MILLIS, seconds * 1_000)
    if (due <= 0 || upkeepAt.get(name)! <= now) {
      upkeepAt.set(name, now + UPKEEP_MILLIS)
      yield* openFor(name)
    }
    dueAt.set(name, now + Math.max(due, LEAST_MILLIS))
  })

  const round = Effect.gen(function* () {
    yield* many.reload
    const now = yield* Clock.currentTimeMillis
    const wanted: Array<readonly [name: string, url: string]> = []
    for (const [name, { databaseUrl }] of many.known()) {
      // Spread, so that a server that starts does not open them all.
      if (!upkeepAt.has(name)) upkeepAt.set(name, now + (yield* Random.nextIntBetween(0, UPKEEP_MILLIS)))
      if (yield* many.isOpen(name)) dueAt.delete(name)
      else if ((dueAt.get(name) ?? 0) <= now) wanted.push([name, databaseUrl])
    }
    yield* Effect.forEach(wanted, ([name, url]) => look(name, url), { concurrency: LOOKS, discard: true })
  })
  yield* round.pipe(
    Effect.catchCause((cause) => Effect.logWarning("the round of the cabinets will be made again", cause)),
    Effect.repeat(Schedule.spaced(CHECK_INTERVAL)),
    Effect.forkScoped,
  )
  yield* PgCabinetSignal.hear((name) => many.known().has(name), openFor).pipe(Effect.forkScoped)
})
