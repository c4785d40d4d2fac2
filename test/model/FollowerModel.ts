/**
 * A model of the followers' protocol: two holders, three events, and a crash, a stall, a lost answer or a failure of the
 * work anywhere. It uses the product's own functions (`core/follower/FollowerLease`).
 *
 * The states are finite. Time is relative: the row's times are those remaining. The current fencing number is always 1
 * and an outdated one 0, because the protocol only compares them. The log of the work is reduced to what its rules need.
 */
import type { FeedPlace } from "@data-cabinet/core/feed/FeedStore"
import {
  claimLease,
  failLease,
  type FollowerLease,
  movePlace,
  releaseLease,
} from "@data-cabinet/core/follower/FollowerLease"
import type { Model, Step } from "./Explorer.ts"

const EVENTS = 3
const PAGE = 2
const LEASE = 1

/**
 * What a holder remembers; it loses that in a crash. Of time it knows whether its lease has surely held since it claimed or
 * moved, by its own clock.
 */
interface Holder {
  readonly sure: boolean
  readonly phase: "idle" | "claimed" | "read" | "acted"
  readonly lease: number
  /** The last event before its page, the last one acted on, and the last of the page. */
  readonly from: number
  readonly acted: number
  readonly to: number
}

/** The effects of the work so far. */
interface Log {
  /** All events up to this one had an effect. */
  readonly whole: number
  readonly skipped: boolean
  readonly repeated: boolean
  /** Whether a holder acted after another had claimed. */
  readonly late: boolean
}

interface State {
  readonly row: FollowerLease
  readonly holders: ReadonlyArray<Holder>
  readonly log: Log
  /** Whether a crash, a stall, a lost answer or a failure has happened: without one, nothing may repeat. */
  readonly disturbed: boolean
}

/**
 * Where the work takes effect: `inside` the database, in the transaction that moves the position, or `outside`, where
 * it cannot be undone.
 */
export type FollowerWork = "inside" | "outside"

/** Mistakes that a programmer could make. */
export type FollowerFault =
  | "position before act"
  | "no fencing"
  | "work before the lock"
  | "a failure skips"
  | "no look at the clock"

const IDLE: Holder = { sure: false, phase: "idle", lease: 0, from: 0, acted: 0, to: 0 }

const placeOf = (event: number): FeedPlace =>
  event === 0 ? { epoch: 0, xid: 0n, id: 0 } : { epoch: 1, xid: 1n, id: event }

const START: State = {
  row: { place: placeOf(0), lease: 0, leasedUntil: 0, notBefore: 0, failures: 0 },
  holders: [IDLE, IDLE],
  log: { whole: 0, skipped: false, repeated: false, late: false },
  disturbed: false,
}

const withEffect = (log: Log, event: number): Log => ({
  whole: Math.max(log.whole, event),
  late: log.late,
  skipped: log.skipped || event > log.whole + 1,
  repeated: log.repeated || event <= log.whole,
})

const withEffects = (log: Log, from: number, to: number): Log => {
  let after = log
  for (let event = from + 1; event <= to; event++) after = withEffect(after, event)
  return after
}

/** Renames fencing tokens, and forgets how many failures there were beyond the first two. */
const canonical = (state: State): State => {
  const renamed = (lease: number) => (lease !== 0 && lease === state.row.lease ? 1 : 0)
  return {
    ...state,
    row: { ...state.row, lease: renamed(state.row.lease), failures: Math.min(state.row.failures, 2) },
    holders: state.holders.map((holder) => ({ ...holder, lease: renamed(holder.lease) })),
  }
}

/** Every step of the protocol for one work, with one planted fault or none. */
class FollowerSteps {
  readonly #work: FollowerWork
  readonly #fault: FollowerFault | null

  constructor(work: FollowerWork, fault: FollowerFault | null) {
    this.#work = work
    this.#fault = fault
  }

  *all(state: State): Generator<Step<State>> {
    if (state.row.leasedUntil > 0 || state.row.notBefore > 0) {
      const row = { ...state.row, leasedUntil: 0, notBefore: 0 }
      const holders = state.holders.map((holder) => ({ ...holder, sure: false }))
      yield ["time passes", { ...state, row, holders, disturbed: true }]
    }
    for (const [index, holder] of state.holders.entries()) {
      const name = `holder ${index}`
      const become = (after: Holder, change: Partial<State> = {}) =>
        canonical({ ...state, ...change, holders: state.holders.with(index, after) })
      if (holder.phase !== "idle") yield [`${name} crashes`, become(IDLE, { disturbed: true })]
      for (const [step, next] of this.#of(state, holder, become)) yield [`${name} ${step}`, next]
    }
  }

  *#of(
    state: State,
    holder: Holder,
    become: (after: Holder, change?: Partial<State>) => State,
  ): Generator<Step<State>> {
    const { row, log } = state
    if (holder.phase === "idle") {
      // As in the product, the end of the feed is known: a follower without events is not claimed.
      const claimed = row.place.id < EVENTS ? claimLease(row, 0, LEASE) : null
      if (claimed === null) return
      const from = claimed.place.id
      yield ["claims", become({ ...IDLE, sure: true, phase: "claimed", lease: claimed.lease, from }, { row: claimed })]
      return
    }
    if (holder.phase === "claimed") {
      const to = Math.min(EVENTS, holder.from + PAGE)
      if (to > holder.from) {
        yield [`reads ${holder.from + 1} to ${to}`, become({ ...holder, phase: "read", acted: holder.from, to })]
      } else {
        yield ["releases", become(IDLE, { row: releaseLease(row, holder.lease, 0, 0) ?? row })]
      }
      return
    }
    yield* this.#failed(state, holder, become)
    if (this.#work === "inside") yield* this.#inside(state, holder, become)
    else if (holder.phase === "read" && this.#fault !== "position before act") {
      if (!holder.sure && this.#fault !== "no look at the clock") {
        yield* this.#asked(state, holder, become)
        return
      }
      const acted = holder.acted + 1
      const phase = acted === holder.to ? "acted" : "read"
      const after = withEffect(log, acted)
      const late = log.late || holder.lease !== row.lease
      yield [`acts on ${acted}`, become({ ...holder, phase, acted }, { log: { ...after, late } })]
    } else if (holder.phase === "read") {
      yield* this.#moved(state, holder, { ...holder, phase: "acted" }, {}, become)
    } else if (this.#fault === "position before act") {
      const effects = withEffects(log, holder.from, holder.to)
      yield [`acts up to ${holder.to}`, become({ ...holder, phase: "claimed", from: holder.to }, { log: effects })]
    } else {
      yield* this.#moved(state, holder, { ...holder, phase: "claimed", from: holder.to }, {}, become)
    }
  }

  *#inside(
    state: State,
    holder: Holder,
    become: (after: Holder, change?: Partial<State>) => State,
  ): Generator<Step<State>> {
    const then: Holder = { ...holder, phase: "claimed", from: holder.to }
    const effects = withEffects(state.log, holder.from, holder.to)
    if (this.#fault !== "work before the lock") yield* this.#moved(state, holder, then, { log: effects }, become)
    else if (holder.phase === "read") {
      yield [`acts up to ${holder.to}`, become({ ...holder, phase: "acted", acted: holder.to }, { log: effects })]
    } else yield* this.#moved(state, holder, then, {}, become)
  }

  /** Moves the position, together with `change`; the answer may be lost after the commit. */
  *#moved(
    { row }: State,
    holder: Holder,
    then: Holder,
    change: Partial<State>,
    become: (after: Holder, change?: Partial<State>) => State,
  ): Generator<Step<State>> {
    const lease = this.#fault === "no fencing" ? row.lease : holder.lease
    const moved = movePlace(row, lease, placeOf(holder.to), 0, LEASE)
    if (moved === null) {
      yield ["finds its lease lost", become(IDLE)]
      return
    }
    yield [`moves to ${holder.to}`, become({ ...then, sure: true }, { ...change, row: moved })]
    yield [`moves to ${holder.to}, and the answer is lost`, become(IDLE, { ...change, row: moved, disturbed: true })]
  }

  /** Saves what is done, and so learns whether the lease still holds. */
  *#asked(
    { row }: State,
    holder: Holder,
    become: (after: Holder, change?: Partial<State>) => State,
  ): Generator<Step<State>> {
    const moved = movePlace(row, holder.lease, placeOf(holder.acted), 0, LEASE)
    if (moved === null) yield ["asks, and finds its lease lost", become(IDLE)]
    else yield ["asks, and its lease is renewed", become({ ...holder, sure: true }, { row: moved })]
  }

  /** What was done before the failure is saved with it, if the work is outside. */
  *#failed(
    { row }: State,
    holder: Holder,
    become: (after: Holder, change?: Partial<State>) => State,
  ): Generator<Step<State>> {
    if (holder.phase !== "read") return
    const done = this.#work === "inside" ? row.place : placeOf(holder.acted)
    const moved = movePlace(row, holder.lease, done, 0, LEASE)
    const failed = moved === null ? null : failLease(moved, holder.lease, 0, () => 1)
    const skips = this.#fault === "a failure skips"
    const after = failed === null ? row : { ...failed, place: skips ? placeOf(holder.acted + 1) : failed.place }
    yield ["fails", become(IDLE, { row: after, disturbed: true })]
  }
}

const brokenRule =
  (work: FollowerWork) =>
  ({ row, log, disturbed }: State): string | null => {
    if (log.skipped || row.place.id > log.whole) return "an event was skipped"
    if (log.late && work === "outside") return "a holder acted after another had claimed"
    if (work === "inside" && (log.repeated || row.place.id !== log.whole)) return "an effect and the position differ"
    return log.repeated && !disturbed ? "an event was repeated without a reason" : null
  }

const show = ({ row, holders, log }: State): string => {
  const each = holders.map((one) => (one.phase === "idle" ? "idle" : `${one.phase} ${one.from}-${one.to}`)).join(", ")
  return `position ${row.place.id}${row.leasedUntil > 0 ? ", leased" : ""}; ${each}; effects up to ${log.whole}`
}

/** The protocol, with one planted fault or none. */
export const followerModel = (work: FollowerWork, fault: FollowerFault | null = null): Model<unknown> => {
  const steps = new FollowerSteps(work, fault)
  const model: Model<State> = {
    initial: START,
    steps: (state) => steps.all(state),
    broken: brokenRule(work),
    isGoal: ({ row, log }) => row.place.id === EVENTS && log.whole === EVENTS,
    show,
  }
  return model as Model<unknown>
}
