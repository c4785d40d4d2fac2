/**
 * Deliveries that a follower writes behind the accept go to the addresses that the source had at the event: each once, and
 * to no other. Which way a source takes is random here, because any is correct.
 */
import type { Subscription } from "@data-cabinet/core/delivery/Address"
import { FanOutStore } from "@data-cabinet/core/delivery/FanOut"
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { Trash } from "@data-cabinet/core/event/Trash"
import { FollowerStore, type HeldFollower } from "@data-cabinet/core/follower/FollowerStore"
import { Option } from "effect"
import { afterAll, assert, beforeAll, beforeEach, it } from "vitest"
import { type Random, randomOf, seeded } from "../../../../test/support/random.ts"
import { type DeliveryCabinet, openDeliveryCabinet } from "./deliveryCabinet.ts"

const FILTER = [{ fc: "kind", fo: "eq", fv: "passes" }] as const

/** Addresses that do not exist. */
const UNKNOWN = Array.from({ length: 101 }, (_, n) => 1_000_000 + n)

const leaving = seeded(3)
let isLeft = () => leaving(2) === 0

let cabinet: DeliveryCabinet
let sources: ReadonlyArray<number>
beforeAll(async () => {
  cabinet = await openDeliveryCabinet()
  // With the threshold of 100 addresses, few sources would ever change their way.
  await cabinet.run(`CREATE OR REPLACE FUNCTION cabinet.choose_fan_out(changed bigint[]) RETURNS void LANGUAGE sql
    AS 'UPDATE cabinet.source SET fans_out = NOT fans_out WHERE random() < 0.4'`)
})
afterAll(() => cabinet?.close())
beforeEach(async () => {
  sources = [await cabinet.begin(), await cabinet.source("Others")]
})

/** Accepts one event as intake does: it is parsed for a version of the source, with the filters of that version. */
const accept = async (source: number, passes: boolean, begins?: () => void): Promise<number> => {
  begins?.()
  const [seen] = await cabinet.run(
    `SELECT s.version, ARRAY(SELECT a.id::int FROM cabinet.address a
       WHERE a.filters IS NOT NULL AND a.removed_at IS NULL AND (a.every_source OR EXISTS (
         SELECT FROM cabinet.address_source t WHERE t.address_id = a.id AND t.source_id = s.id))) AS filtered
     FROM cabinet.source s WHERE s.id = ${source}`,
  )
  const { version, filtered } = seen as { version: number; filtered: ReadonlyArray<number> }
  const event = fingerprintedEvent(new Map([["kind", passes ? "passes" : "does not"]]))
  // With more than 100 that it passes, a follower writes these deliveries, too.
  const judged = passes && isLeft() ? [...filtered, ...UNKNOWN] : filtered
  const request = {
    sourceId: source,
    sourceVersion: version,
    channel: "webhook" as const,
    history: false,
    events: [{ ...event, fingerprint: null }],
    original: null,
    ...(filtered.length === 0 ? {} : { filtered: { addresses: judged, passed: [passes ? judged : []] } }),
  }
  try {
    const [receipt] = await cabinet.runtime.runPromise(EventLog.use((log) => appendEvents(log, request)))
    return receipt!.id
  } catch (error) {
    if ((error as { _tag?: string })._tag === "SourceChanged") return accept(source, passes, begins)
    throw error
  }
}

const claim = () => cabinet.runtime.runPromise(FollowerStore.use((store) => store.claim("deliveries")))
/** One slice, if there is something to write. */
const slice = async (rows: number) => {
  await cabinet.run(
    "UPDATE cabinet.follower SET leased_until = 'epoch', not_before = 'epoch' WHERE kind = 'deliveries'",
  )
  const held = await claim()
  return Option.isNone(held) ? null : write(held.value, rows)
}
const write = (held: HeldFollower, rows: number) =>
  cabinet.runtime.runPromise(FanOutStore.use((store) => store.write(held, rows)))
const writeAll = async () => {
  for (let done = await slice(1_000); done !== null; done = await slice(1_000));
}

const deliveries = async (): Promise<ReadonlyArray<string>> =>
  (
    await cabinet.run(
      `SELECT event_id || ' to ' || address_id AS pair FROM cabinet.delivery_all
       WHERE address_id IN (SELECT id FROM cabinet.address WHERE removed_at IS NULL) ORDER BY event_id, address_id`,
    )
  ).map(({ pair }) => String(pair))

/** What the test knows of an address. */
interface Known {
  sources: Subscription
  filtered: boolean
  /** In order, it has no rows. */
  ordered?: boolean
}

const anySources = (random: Random): Subscription => randomOf(random, ["all", [sources[0]!], [sources[1]!], sources])

const isSent = ({ sources: its, filtered, ordered = false }: Known, source: number, passes: boolean) =>
  !ordered && (its === "all" || its.includes(source)) && (!filtered || passes)

/** A state of an address, and when its change began and ended. */
interface Change extends Known {
  readonly began: number
  readonly ended: number
}

/** Whether an event that was accepted meanwhile may have gone to the address, and whether it may not. */
const possible = (changes: ReadonlyArray<Change>, event: Accepted): ReadonlySet<boolean> => {
  const before = changes.findLastIndex(({ ended }) => ended < event.began)
  const states = changes.slice(Math.max(0, before)).filter(({ began }) => began < event.ended)
  const sent = new Set(states.map((state) => isSent(state, event.source, event.passes)))
  return before < 0 ? sent.add(false) : sent
}

interface Accepted {
  readonly id: number
  readonly source: number
  readonly passes: boolean
  readonly began: number
  readonly ended: number
}

it("no event misses an address or has it twice while addresses change and several accept at once", async () => {
  const random = seeded(7)
  let time = 0
  let isOver = false
  const histories = new Map<number, Array<Change>>()
  const events: Array<Accepted> = []
  const changing = async <A>(state: Known, work: () => Promise<A>): Promise<readonly [A, Change]> => {
    const began = ++time
    const made = await work()
    return [made, { ...state, began, ended: ++time }]
  }
  const change = async () => {
    const state: Known = { sources: anySources(random), filtered: random(3) === 0 }
    const filters = state.filtered ? FILTER : []
    const create = () =>
      cabinet.book((book) => book.create({ url: "https://example.com/", sources: state.sources, filters }))
    const [{ id }, first] = await changing(state, create)
    const history = [first]
    histories.set(id, history)
    for (let n = 0; n < 6; n++) {
      const was = history.at(-1)!
      const next: Known =
        random(2) === 0 ? { ...was, sources: anySources(random) } : { ...was, filtered: !was.filtered }
      const set = { sources: next.sources, filters: next.filtered ? FILTER : [] }
      history.push((await changing(next, () => cabinet.book((book) => book.set(id, set))))[1])
    }
  }
  const send = async () => {
    while (!isOver) {
      const source = randomOf(random, sources)
      const passes = random(2) === 0
      let began = 0
      const id = await accept(source, passes, () => (began = ++time))
      events.push({ id, source, passes, began, ended: ++time })
    }
  }
  const follow = async () => {
    while (!isOver) if ((await slice(1 + random(5))) === null) await new Promise((resolve) => setImmediate(resolve))
  }
  const background = [send(), send(), send(), follow()]
  for (let n = 0; n < 4; n++) await Promise.all([change(), change(), change()])
  isOver = true
  await Promise.all(background)
  await writeAll()
  const made = Map.groupBy(await deliveries(), (pair) => pair)
  for (const event of events) {
    for (const [id, history] of histories) {
      const pair = `${event.id} to ${id}`
      const times = made.get(pair)?.length ?? 0
      assert.isAtMost(times, 1, pair)
      assert.isTrue(
        possible(history, event).has(times === 1),
        `${pair}: ${times} of ${JSON.stringify([event, history])}`,
      )
    }
  }
}, 600_000)

it(
  "each event has one delivery to each address that its source had when the event was accepted",
  { timeout: 600_000 },
  async () => {
    for (const seed of [1, 2]) {
      sources = [await cabinet.source(`One ${seed}`), await cabinet.source(`Other ${seed}`)]
      for (const { id } of await cabinet.book((book) => book.list({ after: 0, limit: 1000 })))
        await cabinet.book((book) => book.remove(id))
      const random = seeded(seed)
      const known = new Map<number, Known>()
      const expected = new Map<number, ReadonlyArray<number>>()
      const events: Array<readonly [event: number, source: number]> = []
      const anyone = () => (known.size === 0 ? undefined : randomOf(random, [...known.keys()]))
      const steps = {
        create: async () => {
          const made = { sources: anySources(random), filtered: random(4) === 0 }
          const { id } = await cabinet.book((book) =>
            book.create({
              url: "https://example.com/",
              sources: made.sources,
              ...(made.filtered ? { filters: FILTER } : {}),
            }),
          )
          known.set(id, made)
        },
        change: async () => {
          const id = anyone()
          if (id === undefined) return
          const change =
            random(2) === 0 ? { sources: anySources(random) } : { filters: known.get(id)!.filtered ? [] : FILTER }
          await cabinet.book((book) => book.set(id, change))
          const was = known.get(id)!
          known.set(
            id,
            "sources" in change ? { ...was, sources: change.sources! } : { ...was, filtered: !was.filtered },
          )
        },
        order: async () => {
          const id = anyone()
          if (id === undefined) return
          const was = known.get(id)!
          const ordered = !(was.ordered ?? false)
          await cabinet.book((book) => book.set(id, { order: ordered ? "feed" : "none" }))
          known.set(id, { ...was, ordered })
        },
        remove: async () => {
          const id = anyone()
          if (id === undefined || random(3) > 0) return
          await cabinet.book((book) => book.remove(id))
          known.delete(id)
        },
        accept: async () => {
          const source = randomOf(random, sources)
          const passes = random(2) === 0
          const its = [...known].filter(([, one]) => isSent(one, source, passes)).map(([id]) => id)
          const event = await accept(source, passes)
          expected.set(event, its)
          events.push([event, source])
        },
        write: () => slice(1 + random(7)),
        trash: async () => {
          if (events.length === 0 || random(4) > 0) return
          const [event, source] = randomOf(random, events)
          await cabinet.runtime.runPromise(Trash.use((trash) => trash.trash(source, [event])))
          expected.delete(event)
        },
      }
      const order = [
        "create",
        "create",
        "change",
        "order",
        "change",
        "remove",
        "accept",
        "accept",
        "accept",
        "write",
        "write",
        "trash",
      ] as const
      for (let n = 0; n < 90; n++) await steps[randomOf(random, order)]()
      await writeAll()
      const wanted = [...expected].flatMap(([event, its]) =>
        its.filter((id) => known.has(id)).map((id) => `${event} to ${id}`),
      )
      const trashed = new Set(events.map(([event]) => event).filter((event) => !expected.has(event)))
      const made = (await deliveries()).filter((pair) => !trashed.has(Number(pair.split(" ")[0])))
      assert.sameMembers(made, wanted, `seed ${seed}`)
      assert.lengthOf(made, wanted.length, `seed ${seed}`)
    }
  },
)

it("the follower counts waiting deliveries to addresses with a filter, and writes none that exists", async () => {
  const create = () =>
    cabinet.book((book) => book.create({ url: "https://example.com/", sources: [sources[0]!], filters: FILTER }))
  const [first, second] = [(await create()).id, (await create()).id]
  isLeft = () => true
  const event = await accept(sources[0]!, true)
  const waiting = async () => {
    const all = await cabinet.runtime.runPromise(FollowerStore.use((store) => store.list))
    return all.find(({ kind }) => kind === "deliveries")!.behind
  }
  assert.strictEqual(await waiting(), 1)
  // As a server of the previous version does that rereads the event.
  await cabinet.run(
    `INSERT INTO cabinet.delivery (address_id, event_id, created_at, due_at) VALUES (${first}, ${event}, now(), now())`,
  )
  assert.deepEqual(await slice(10), { written: 1, more: true })
  assert.strictEqual(await waiting(), 0)
  assert.deepEqual(
    await deliveries(),
    [first, second].map((id) => `${event} to ${id}`),
  )
})
