/**
 * A model of the feed's fence: writers accept one event each, readers follow the feed, and the server restarts, is
 * restored to an earlier state, or is set back while it runs. Positions move by the product's own functions
 * (`core/feed/FeedPosition`). The watermark is SQL (`store-pg/feed/Fence`); the model takes its steps one by one,
 * because its correctness depends on their order.
 *
 * An event is identified by its own number and its time of receipt: after a restore, another event may have the same position.
 */
import { advance, laterPlaces, placesOf, provesSetBack, resumeAt } from "@data-cabinet/core/feed/FeedPosition"
import { FEED_START, type FeedPlace } from "@data-cabinet/core/feed/FeedStore"
import { comparePlaces } from "@data-cabinet/core/feed/FeedTrail"
import type { Model, Step } from "./Explorer.ts"
import {
  brokenRule,
  canonical,
  DONE,
  has,
  type Mark,
  type Reader,
  show,
  type State,
  WAITING,
  type Writer,
} from "./FenceState.ts"

const PAGE = 2

export type FenceChange = "restart" | "restore" | "set back"

export type FenceFault =
  | "no fence"
  | "fence after the id"
  | "holders before the snapshot"
  | "events before the watermark"
  | "no new epoch"

export interface FenceOptions {
  readonly writers: number
  readonly readers: number
  /** What may happen to the server, once. */
  readonly change: FenceChange | null
  readonly fault?: FenceFault
}

const holdsFence = ({ phase }: Writer, fault: FenceFault | undefined): boolean =>
  (phase === "fenced" && fault !== "fence after the id") || phase === "numbered"

/** Every step of the feed, with one planted fault or none. */
class FenceSteps {
  readonly #change: FenceChange | null
  readonly #fault: FenceFault | undefined

  constructor({ change, fault }: FenceOptions) {
    this.#change = change
    this.#fault = fault
  }

  *all(state: State): Generator<Step<State>> {
    for (const [index, writer] of state.writers.entries()) {
      if (writer.phase === "waiting" && state.writers[index - 1]?.phase === "waiting") continue
      for (const [step, change, next] of this.#write(state, writer)) {
        yield [`a writer ${step}`, canonical({ ...state, ...change, writers: state.writers.with(index, next) })]
      }
    }
    for (const [index, reader] of state.readers.entries()) {
      for (const [step, next, change = {}] of this.#read(state, reader)) {
        yield [`a reader ${step}`, canonical({ ...state, ...change, readers: state.readers.with(index, next) })]
      }
    }
    if (this.#change === null || state.changes > 0) return
    for (const [step, next] of this.#changed(state, this.#change)) yield [step, canonical(next)]
  }

  *#write(state: State, writer: Writer): Generator<readonly [step: string, change: Partial<State>, next: Writer]> {
    const { isOurs, epoch, clock, lastCompleted, events } = state
    if (writer.phase === "waiting") {
      // The check of a new connection. It waits for the fence to be free, which it is after a start.
      const begins = !isOurs && this.#fault !== "no new epoch"
      const began = begins
        ? { epoch: clock + 1, clock: clock + 1, isOurs: true }
        : { isOurs: true, epoch: Math.max(1, epoch) }
      if (this.#fault === "fence after the id") {
        const [step, change, next] = this.#draws(state, "fenced")
        yield [step, { ...change, ...began }, next]
      } else yield ["takes the fence", began, { ...writer, phase: "fenced" }]
    } else if (writer.phase === "fenced") {
      // With this fault, it has drawn its id before.
      if (writer.xid > 0) yield ["takes the fence late", {}, { ...writer, phase: "numbered" }]
      else yield this.#draws(state, "numbered")
    } else if (writer.phase === "numbered") {
      const event = { epoch, xid: BigInt(writer.xid), id: writer.xid, receivedAt: BigInt(writer.serial) }
      const completed = { lastCompleted: Math.max(lastCompleted, writer.xid) }
      yield ["commits", { ...completed, events: [...events, event] }, DONE]
      yield ["is rolled back", completed, DONE]
    }
  }

  #draws({ lastXid, serial }: State, phase: Writer["phase"]): readonly [string, Partial<State>, Writer] {
    const drawn = { lastXid: lastXid + 1, serial: serial + 1 }
    return [`draws ${drawn.lastXid}`, drawn, { phase, xid: drawn.lastXid, serial: drawn.serial }]
  }

  *#read(state: State, reader: Reader): Generator<readonly [step: string, next: Reader, change?: Partial<State>]> {
    const { mark } = reader
    if (mark === null) {
      const empty: Mark = { epoch: 0, xmax: null, holders: null, isThere: false, events: null }
      if (this.#fault === "holders before the snapshot") {
        yield ["reads the holders", { ...reader, mark: { ...empty, holders: this.#holders(state) } }]
      } else if (this.#fault === "events before the watermark") {
        yield ["reads the events", { ...reader, mark: { ...empty, events: state.events } }]
      } else yield ["takes a snapshot", { ...reader, mark: this.#snapshot(state, reader, empty) }]
    } else if (mark.xmax === null) {
      yield ["takes a snapshot", { ...reader, mark: this.#snapshot(state, reader, mark) }]
    } else if (mark.holders === null) {
      // The value that it read becomes one bound.
      const xmax = Math.min(mark.xmax, ...this.#holders(state))
      yield ["reads the holders", { ...reader, mark: { ...mark, xmax, holders: [] } }]
    } else if (provesSetBack(mark.isThere, reader.at, mark.epoch)) {
      // Like the beginning of any epoch, it waits until no writer has the fence.
      if (state.writers.some((writer) => holdsFence(writer, this.#fault))) return
      const epoch = Math.max(state.clock, state.epoch, reader.at.epoch) + 1
      const begun = state.epoch > reader.at.epoch ? {} : { epoch, clock: epoch, isOurs: true }
      yield ["begins an epoch", { ...reader, mark: null }, begun]
    } else {
      const next = this.#page(state, reader, { ...mark, xmax: Math.min(mark.xmax, ...mark.holders) })
      if (next.at !== reader.at) yield [`reads a page up to ${next.at.epoch}.${next.at.xid}`, next]
      else yield ["reads nothing", next]
    }
  }

  #holders({ writers }: State): ReadonlyArray<number> {
    if (this.#fault === "no fence") return []
    return writers
      .filter((writer) => holdsFence(writer, this.#fault) && writer.phase === "numbered")
      .map(({ xid }) => xid)
  }

  #snapshot({ isOurs, epoch, events, lastCompleted }: State, { at }: Reader, mark: Mark): Mark {
    const isThere = has(events, at)
    return isOurs
      ? { ...mark, epoch, xmax: lastCompleted + 1, isThere }
      : { ...mark, epoch: epoch + 1, xmax: 0, isThere }
  }

  #page({ events, setBack }: State, reader: Reader, mark: Mark & { readonly xmax: number }): Reader {
    const { at, seen } = reader
    const places = mark.isThere ? laterPlaces(at) : placesOf(at)
    const known = places.find((place) => has(events, place))
    const after = mark.isThere && known === undefined ? at : resumeAt(known ?? FEED_START, at)
    const bound: FeedPlace = { epoch: mark.epoch, xid: BigInt(mark.xmax), id: 0 }
    const page = (mark.events ?? events)
      .filter((one) => comparePlaces(one, after) > 0 && comparePlaces(one, bound) < 0)
      .sort(comparePlaces)
      .slice(0, PAGE)
    const serials = page.map(({ receivedAt }) => Number(receivedAt))
    return {
      at: advance(after, page.length, (index) => page[index]!),
      mark: null,
      seen: [...new Set([...seen, ...serials])].sort((one, other) => one - other),
      repeated: reader.repeated || (!setBack && serials.some((serial) => seen.includes(serial))),
    }
  }

  /** All sessions end, and their transactions with them; senders send again. */
  *#changed(state: State, change: FenceChange): Generator<Step<State>> {
    const ended: State = {
      ...state,
      writers: state.writers.map((one) => (one.phase === "done" ? DONE : WAITING)),
      readers: state.readers.map((one) => ({ ...one, mark: null })),
      changes: state.changes + 1,
    }
    if (change === "restart") {
      yield ["the server restarts", { ...ended, isOurs: false, lastCompleted: state.lastXid }]
      return
    }
    for (let kept = 0; kept < state.events.length; kept++) {
      const events = state.events.slice(0, kept)
      const lastXid = events.reduce((last, { xid }) => Math.max(last, Number(xid)), 0)
      // The lost events are sent again.
      let lost = state.events.length - kept
      const writers = ended.writers.map((one) => (one.phase === "done" && lost-- > 0 ? WAITING : one))
      const back = { ...ended, events, writers, lastXid, lastCompleted: lastXid, setBack: true }
      yield change === "restore"
        ? [`the database is restored with ${kept} events`, { ...back, isOurs: false }]
        : [`the database is set back to ${kept} events while it runs`, back]
    }
  }
}

/** The feed, with one planted fault or none. */
export const fenceModel = (options: FenceOptions): Model<unknown> => {
  const steps = new FenceSteps(options)
  const model: Model<State> = {
    initial: {
      writers: Array.from({ length: options.writers }, () => WAITING),
      readers: Array.from({ length: options.readers }, () => ({
        at: FEED_START,
        mark: null,
        seen: [],
        repeated: false,
      })),
      events: [],
      lastXid: 0,
      lastCompleted: 0,
      serial: 0,
      epoch: 0,
      isOurs: false,
      clock: 0,
      setBack: false,
      changes: 0,
    },
    steps: (state) => steps.all(state),
    broken: brokenRule,
    isGoal: ({ writers, readers, events }) =>
      writers.every(({ phase }) => phase === "done") &&
      readers.every(({ seen }) => events.every(({ receivedAt }) => seen.includes(Number(receivedAt)))),
    show,
  }
  return model as Model<unknown>
}
