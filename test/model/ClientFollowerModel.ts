/**
 * A model of the position that the cabinet keeps for clients: two clients of one name, three events, and a crash, a lost
 * answer, one reset and one restore of the database anywhere. It decides by the product's own function, `movesTo`.
 *
 * A restore keeps the first event. The later two are then others, with the very places of those that were lost.
 */
import { movesTo } from "@data-cabinet/core/follower/ClientFollower"
import type { FeedPlace } from "@data-cabinet/core/feed/FeedStore"
import { keyOf, type Model, type Step } from "./Explorer.ts"

const EVENTS = 3
/** The last event that both histories of the database have. */
const SHARED = 1

/** A position: an event, and the history of the database that it is of. */
interface At {
  readonly event: number
  readonly history: number
}

interface Client {
  readonly phase: "idle" | "read" | "done"
  readonly from: number
  readonly to: At
  readonly resets: number
}

interface State {
  readonly kept: At
  readonly resets: number
  readonly history: number
  readonly clients: ReadonlyArray<Client>
  /** For each history: every event up to this one was processed since the last reset. */
  readonly processed: readonly [number, number]
}

/** Mistakes that a programmer could make. */
export type ClientFollowerFault = "acknowledged before processed" | "a reset is forgotten" | "never back"

const NOWHERE: At = { event: 0, history: 0 }
const IDLE: Client = { phase: "idle", from: 0, to: NOWHERE, resets: 0 }
const START: State = { kept: NOWHERE, resets: 0, history: 0, clients: [IDLE, IDLE], processed: [0, 0] }

const placeOf = ({ event }: At): FeedPlace => ({ epoch: event === 0 ? 0 : 1, xid: BigInt(event), id: event })

const isThere = ({ history }: State, at: At): boolean => at.event <= SHARED || at.history === history

/** Where the feed continues: at a place that the database has. */
const readsFrom = (state: State): number => (isThere(state, state.kept) ? state.kept.event : SHARED)

const afterWork = (state: State, { from, to, resets }: Client): State["processed"] => {
  // A page that was read before a reset does not count for the reset.
  if (resets !== state.resets) return state.processed
  const each = state.processed.map((whole, history) => {
    const end = history === to.history ? to.event : Math.min(to.event, SHARED)
    return from <= whole ? Math.max(whole, end) : whole
  })
  return each as unknown as State["processed"]
}

const acknowledged = (state: State, { to, resets }: Client, fault: ClientFollowerFault | null): At => {
  const known = { kept: fault === "never back" || isThere(state, state.kept), acknowledged: isThere(state, to) }
  const sent = { position: placeOf(to), resets: fault === "a reset is forgotten" ? undefined : resets }
  const moves = movesTo({ position: placeOf(state.kept), resets: state.resets }, sent, known)
  return moves ? to : state.kept
}

/** The clients are alike, and both histories have the first event. */
const canonical = (state: State): State => {
  const clients = [...state.clients].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  return { ...state, clients, kept: state.kept.event <= SHARED ? { ...state.kept, history: 0 } : state.kept }
}

const steps = (fault: ClientFollowerFault | null) =>
  function* (state: State): Generator<Step<State>> {
    if (state.resets === 0) {
      yield ["the position is reset", { ...state, kept: NOWHERE, resets: 1, processed: [0, 0] }]
    }
    if (state.history === 0) {
      const kept = { event: Math.min(state.kept.event, SHARED), history: 0 }
      yield ["the database is restored", { ...state, kept, history: 1 }]
    }
    for (const [index, client] of state.clients.entries()) {
      const name = `client ${index}`
      const become = (after: Client, change: Partial<State> = {}): State =>
        canonical({ ...state, ...change, clients: state.clients.with(index, after) })
      if (client.phase === "idle") {
        const from = readsFrom(state)
        for (let event = from + 1; event <= Math.min(EVENTS, from + 2); event++) {
          const to = { event, history: event <= SHARED ? 0 : state.history }
          const page: Client = { phase: "read", from, to, resets: state.resets }
          yield [`${name} reads up to ${event}`, become(page)]
        }
        continue
      }
      yield [`${name} crashes`, become(IDLE)]
      if (client.phase === "read" && fault !== "acknowledged before processed") {
        yield [
          `${name} processes its page`,
          become({ ...client, phase: "done" }, { processed: afterWork(state, client) }),
        ]
        continue
      }
      const kept = acknowledged(state, client, fault)
      yield [`${name} acknowledges`, become(IDLE, { kept })]
      yield [`${name} acknowledges, and the answer is lost`, become({ ...client, phase: "done" }, { kept })]
    }
  }

const show = ({ kept, resets, history, clients, processed }: State): string =>
  `position ${kept.event} of history ${kept.history}, now ${history}, ${resets} resets; ${clients
    .map(({ phase, from, to }) => (phase === "idle" ? phase : `${phase} ${from}-${to.event} of ${to.history}`))
    .join(", ")}; processed ${processed[history]!}`

/** The protocol, with one planted fault or none. */
export const clientFollowerModel = (fault: ClientFollowerFault | null = null): Model<State> => ({
  initial: START,
  steps: steps(fault),
  broken: (state) => (readsFrom(state) > state.processed[state.history]! ? "an event was skipped" : null),
  isGoal: (state) => isThere(state, state.kept) && state.kept.event === EVENTS,
  show,
})
