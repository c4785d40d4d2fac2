/**
 * The work of cabinets that are not open anywhere: due deliveries, polls, retention. The registry has the time at which
 * each has to be checked (`PgRegistryDue`). A process that does background work claims those whose time has come, reads
 * over a short connection when each has work due next, and opens it then. A process that uses a cabinet signals it to
 * the others, so that its deliveries go out at once.
 *
 * The guarantees: a cabinet in use in any process is served as if it were alone; a retry or a poll of an unused cabinet
 * starts within CHECK_INTERVAL of its time; a cabinet whose processes were killed is checked within two minutes; and work
 * that no process announced is found within LONGEST_SECONDS.
 */
import { background } from "@data-cabinet/core/runtime/Background"
import * as PgCabinetSignal from "@data-cabinet/store-pg/tenancy/PgCabinetSignal"
import { type ClaimedCabinet, claimDue, settleDue } from "@data-cabinet/store-pg/tenancy/PgRegistryDue"
import { type KeptDays, nextDue } from "@data-cabinet/store-pg/maintenance/NextDue"
import { Effect, Semaphore } from "effect"
import type { TenantPool } from "./TenantPool.ts"

const CHECK_INTERVAL = "5 seconds"
/** Claimed at once; the rest stays for other workers, or for the next claim. */
const CLAIMS = 50
/** Between two looks at a cabinet, whatever it reports. */
const [SHORTEST_SECONDS, LONGEST_SECONDS] = [10, 24 * 3_600]
/** After a look that found no database to ask. */
const AGAIN_SECONDS = 300
/** Before a failed opening is repeated. */
const MIN_CHECK_MILLIS = 10_000
/** How long a cabinet is kept open for its work; like any other, it also stays open while in use. */
const KEEP_OPEN = "1 minute"
/** Concurrent checks and openings of cabinets. */
const MAX_CONCURRENT_CHECKS = 4

export interface TenantWork {
  readonly kept: KeptDays
  /** False for a process that only delivers: it leaves a cabinet with due work to the others as well. */
  readonly polls: boolean
}

/** Forks into the scope. */
export const tenantScheduler = Effect.fnUntraced(function* (many: TenantPool, { kept, polls }: TenantWork) {
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

  const look = Effect.fnUntraced(function* (claim: ClaimedCabinet, url: string) {
    // A database that cannot be queried is retried later; users of the cabinet see the failure in its own responses.
    const seconds = yield* Effect.match(nextDue(url, kept), {
      onSuccess: (due) => due ?? LONGEST_SECONDS,
      onFailure: () => AGAIN_SECONDS,
    })
    if (seconds > 0) yield* settleDue(claim, clamped(seconds))
    else {
      // The claim lasts a minute; once the cabinet is open, it postpones its own time.
      yield* openFor(claim.name)
      if (!polls) yield* PgCabinetSignal.notify(claim.name)
    }
  })

  const round = Effect.gen(function* () {
    yield* many.reload
    for (;;) {
      const claims = yield* claimDue(CLAIMS)
      const open = new Set(yield* many.open)
      yield* Effect.forEach(
        claims,
        (claim) => {
          const cabinet = many.known.get(claim.name)
          // A name that this process does not know yet is claimed again in a minute.
          if (cabinet === undefined || (polls && open.has(claim.name))) return Effect.void
          return look(claim, cabinet.databaseUrl)
        },
        { concurrency: MAX_CONCURRENT_CHECKS, discard: true },
      )
      if (claims.length < CLAIMS) return
    }
  })
  yield* background("tenant round", CHECK_INTERVAL, round)
  yield* PgCabinetSignal.listen((name) => many.known.has(name), openFor).pipe(Effect.forkScoped)
})

const clamped = (seconds: number): number => Math.min(LONGEST_SECONDS, Math.max(SHORTEST_SECONDS, seconds))
