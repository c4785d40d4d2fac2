import type { Subscription } from "@data-cabinet/core/delivery/Address"
import { AddressStore, type AddressTrouble } from "@data-cabinet/core/delivery/AddressStore"
import { type Effect, Option } from "effect"
import { afterAll, assert, beforeAll, beforeEach, expect, it } from "vitest"
import { claimOf, type DeliveryCabinet, openDeliveryCabinet, settlementOf } from "./deliveryCabinet.ts"
import type { AddressChange } from "@data-cabinet/core/delivery/NewAddress"

let cabinet: DeliveryCabinet
let source: number
beforeAll(async () => {
  cabinet = await openDeliveryCabinet()
})
afterAll(() => cabinet?.close())
beforeEach(async () => {
  source = await cabinet.begin()
})

const create = (sources: Subscription, url = "https://example.com/hook") =>
  cabinet.book((book) => book.create({ url, sources }))

it("create gives each address a secret of its own, which list and get show", async () => {
  const [one, two] = [await create("all"), await create([source, source])]
  expect(one).toMatchObject({
    url: "https://example.com/hook",
    sources: "all",
    previousSecret: null,
    pausedAt: null,
    failingSince: null,
  })
  expect(one.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(two.secret).not.toBe(one.secret)
  expect(two.sources).toEqual([source])
  expect(await cabinet.book((book) => book.list({ after: 0, limit: 100 }))).toEqual([one, two])
  expect(await cabinet.book((book) => book.get(two.id))).toEqual(two)
})

it("lists have pages, and leave out what was removed", async () => {
  const ids: Array<number> = []
  for (let n = 1; n <= 4; n++) ids.push((await create("all", `https://example.com/${n}`)).id)
  await cabinet.book((book) => book.remove(ids[1]!))
  const page = (after: number, limit: number) =>
    cabinet.book((book) => book.list({ after, limit })).then((all) => all.map(({ id }) => id))
  expect(await page(0, 2)).toEqual([ids[0], ids[2]])
  expect(await page(ids[2]!, 2)).toEqual([ids[3]])
  const store = <A>(work: (one: AddressStore["Service"]) => Effect.Effect<A, unknown>) =>
    cabinet.runtime.runPromise(AddressStore.use(work))
  expect(await store((one) => one.count)).toBe(3)
  const some = await store((one) => one.some([ids[3]!, ids[1]!, 999_999]))
  expect(some.map(({ id }) => id)).toEqual([ids[3]])
})

it("health has the last attempt of each address, of whatever outcome, and what waits for it", async () => {
  const [tried, quiet] = [await create("all"), await create([])]
  await cabinet.accept(source, 3)
  const [first] = await cabinet.queue((queue) => queue.claim(claimOf({ limit: 1 })))
  await cabinet.queue((queue) => queue.settle([settlementOf(first!, 503, 20)]))
  const ids = [quiet.id, tried.id]
  const found = await cabinet.runtime.runPromise(AddressStore.use((one) => one.health(ids)))
  expect(found).toEqual([
    { id: quiet.id, waiting: 0, last: null },
    {
      id: tried.id,
      waiting: 3,
      last: { at: expect.stringMatching(/Z$/), outcome: "error", status: 503, failure: null, durationMs: 12 },
    },
  ])
})

it("addresses in trouble are those that fail, were paused for it, or wait in order at an event", async () => {
  const [works, fails, given, asked, waits] = [
    await create("all"),
    await create("all"),
    await create("all"),
    await create("all"),
    await cabinet.book((book) => book.create({ url: "https://example.com/hook", sources: "all", order: "feed" })),
  ].map(({ id }) => id)
  const set = (values: string, id: number) => cabinet.run(`UPDATE cabinet.address SET ${values} WHERE id = ${id}`)
  await set("failing_since = now()", fails!)
  await set("failing_since = now(), paused_at = now(), paused_because = 'failing'", given!)
  // A person paused it, and so knows.
  await set("failing_since = now(), paused_at = now()", asked!)
  const troubled = (trouble: AddressTrouble, limit = 10) =>
    cabinet.runtime
      .runPromise(AddressStore.use((one) => one.troubled(trouble, limit)))
      .then((all) => all.map(({ id }) => id))
  expect(await troubled("failing")).toEqual([fails, given])
  expect(await troubled("failing", 1)).toEqual([fails])
  expect(await troubled("waiting")).toEqual([])
  const inOrder = await cabinet.runtime.runPromise(AddressStore.use((one) => one.inOrder(1, 10)))
  expect(inOrder.map(({ id }) => id)).toEqual([waits])
  await cabinet.run(`UPDATE cabinet.follower SET failures = 1 WHERE name = '${waits}'`)
  expect(await troubled("waiting")).toEqual([waits])
  const failing = (after: number, limit = 10) =>
    cabinet.book((book) => book.list({ after, limit, failing: true })).then((all) => all.map(({ id }) => id))
  expect(await failing(0)).toEqual([fails, given, waits])
  expect(await failing(fails!, 1)).toEqual([given])
  await cabinet.run(`UPDATE cabinet.address SET paused_at = now() WHERE id = ${waits}`)
  expect(await failing(0)).toEqual([fails, given])
  expect(works).toBeLessThan(fails!)
})

it("an unknown id is refused with a message, and a refused change changes nothing", async () => {
  await expect(create([source, 999])).rejects.toMatchObject({
    code: "no_such_source",
    message: "Source 999 does not exist.",
  })
  expect(await cabinet.book((book) => book.list({ after: 0, limit: 100 }))).toEqual([])
  const made = await create("all")
  const set = (id: number, url: string, sources: Subscription) => cabinet.book((book) => book.set(id, { url, sources }))
  await expect(set(made.id, "https://other.example/", [999])).rejects.toMatchObject({ code: "no_such_source" })
  await expect(set(999, "https://other.example/", "all")).rejects.toMatchObject({ code: "no_such_address" })
  expect(await cabinet.book((book) => book.list({ after: 0, limit: 100 }))).toEqual([made])
  expect(await set(made.id, "https://other.example/", [source])).toMatchObject({
    url: "https://other.example/",
    sources: [source],
  })
})

it("rotateSecret also signs with the old secret for 24 hours, and no longer", async () => {
  const { id, secret: old } = await create("all")
  const { secret, previousSecret } = await cabinet.book((book) => book.rotateSecret(id))
  expect(previousSecret).toMatchObject({ secret: old })
  expect(secret).not.toBe(old)
  await cabinet.accept(source, 2)
  const claim = () => cabinet.queue((queue) => queue.claim(claimOf({ limit: 1 })))
  expect((await claim())[0]!.recipient.secrets).toEqual([secret, old])
  await cabinet.pass("24 hours")
  expect((await claim())[0]!.recipient.secrets).toEqual([secret])
  expect(await cabinet.book((book) => book.get(id))).toMatchObject({ secret, previousSecret: null })
})

it("remove hides an address everywhere, and cancels its deliveries in slices", async () => {
  const { id } = await create("all")
  const [event] = await cabinet.accept(source)
  await cabinet.run(`INSERT INTO cabinet.delivery (address_id, event_id, created_at, due_at)
    SELECT ${id}, ${event}, cabinet.now(), cabinet.now() FROM generate_series(1, 5100)`)
  await cabinet.book((book) => book.remove(id))
  expect(await cabinet.run("SELECT state, count(*)::int AS n FROM cabinet.delivery_all GROUP BY state")).toEqual([
    { state: "cancelled", n: 5101 },
  ])
  expect(await cabinet.book((book) => book.list({ after: 0, limit: 100 }))).toEqual([])
  for (const act of ["get", "remove", "pause", "resume", "rotateSecret"] as const) {
    await expect(cabinet.book((book) => book[act](id))).rejects.toMatchObject({ code: "no_such_address" })
  }
})

it("set merges headers with those of the address, and changes nothing if another caller has changed it meanwhile", async () => {
  const { id, url } = await create("all")
  const store = async (change: AddressChange, headerNames: ReadonlyArray<string>) => {
    const stored = await cabinet.runtime.runPromise(
      AddressStore.use((addresses) => addresses.set(id, change, { url, headerNames, clientCertificate: null })),
    )
    return Option.isOption(stored) ? stored : assert.fail("there are too many addresses")
  }
  await store({ setHeaders: [["X-One", "1"]] }, [])
  // The caller saw an older state; its change is merged with the current one.
  expect(Option.getOrThrow(await store({ setHeaders: [["X-Two", "2"]] }, []))).toMatchObject({
    headerNames: ["X-One", "X-Two"],
  })
  // Headers unknown to the caller must not go to the origin that the caller sets.
  const other = "https://other.example/"
  expect(await store({ url: other }, [])).toEqual(Option.none())
  expect(await store({ url: other, setHeaders: [["X-One", "3"]] }, ["X-One"])).toEqual(Option.none())
  const many = Array.from({ length: 49 }, (_, n) => [`X-Many-${n}`, ""] as const)
  expect(await store({ setHeaders: many }, [])).toEqual(Option.none())
  expect(await cabinet.book((book) => book.get(id))).toMatchObject({ url, headerNames: ["X-One", "X-Two"] })
  expect(Option.isSome(await store({ url: other }, ["X-One", "X-Two"]))).toBe(true)
  // By now it has another URL than the caller saw.
  expect(await store({ removeHeaders: ["X-One"] }, ["X-One", "X-Two"])).toEqual(Option.none())
})

it("set keeps a stored filter that is longer than a new one may be, and refuses to change it to another such one", async () => {
  const { id } = await create([source])
  const filters = Array.from({ length: 5 }, (_, n) => ({ fc: "kind", fo: "ne" as const, fv: `${n}`.repeat(1_000) }))
  await cabinet.run(`UPDATE cabinet.address SET filters = '${JSON.stringify(filters)}' WHERE id = ${id}`)
  const set = (change: AddressChange) => cabinet.book((book) => book.set(id, change))
  const url = "https://example.com/other"
  expect(await set({ url, filters })).toMatchObject({ url, filters })
  await expect(set({ filters: filters.toReversed() })).rejects.toMatchObject({ code: "bad_filter" })
  expect(await set({ filters: filters.slice(1, 3) })).toMatchObject({ filters: filters.slice(1, 3) })
})
