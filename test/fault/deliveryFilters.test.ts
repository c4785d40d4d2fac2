/**
 * Which events an address with a filter receives: those that pass the filter in force at their commit, whatever changes
 * meanwhile and whichever server accepts them. The tests check what is stored.
 */
import { Addresses } from "@data-cabinet/core/delivery/Addresses"
import type { FieldFilter } from "@data-cabinet/core/delivery/FieldFilter"
import { Intake } from "@data-cabinet/core/intake/Intake"
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import { Effect } from "effect"
import { type IntakeCabinet, intakeCabinet } from "../support/intakeCabinet.ts"
import { withDatabase } from "../support/postgres.ts"
import { whileAccepting } from "./openAccept.ts"
import type { AddressChange, NewAddress } from "@data-cabinet/core/delivery/NewAddress"

const database = withDatabase()
/** Three servers of one cabinet, each with its own cache of sources and its own connections. */
let servers: ReadonlyArray<IntakeCabinet>
let cabinet: IntakeCabinet
beforeAll(async () => {
  servers = await Promise.all([1, 2, 3].map(() => intakeCabinet(database.url)))
  cabinet = servers[0]!
})
afterAll(() => Promise.all((servers ?? []).map((server) => server.close())))

const where = (fc: string, fo: FieldFilter["fo"], fv = ""): FieldFilter => ({ fc, fo, fv })

/** An address that nothing is sent to. */
const create = (address: Omit<NewAddress, "url">) =>
  cabinet.run(Addresses.use((addresses) => addresses.create({ url: "https://1.1.1.1/", ...address })))
const set = (id: number, change: AddressChange) => cabinet.run(Addresses.use((addresses) => addresses.set(id, change)))
const test = (id: number, eventId: number) => cabinet.run(Addresses.use((addresses) => addresses.test(id, eventId)))

const send = (url: string, body: string) =>
  fetch(url, { method: "POST", body, headers: { "content-type": "application/json" } })

const post = async (url: string, body: string) => {
  const response = await send(url, body)
  const answer = (await response.json()) as { readonly id: number; readonly results?: ReadonlyArray<{ id: number }> }
  assert.strictEqual(response.status, 200, JSON.stringify(answer))
  return answer.results?.map(({ id }) => id) ?? [answer.id]
}

const sentTo = async (addressId: number): Promise<ReadonlyArray<number>> => {
  const rows = await database.run(
    `SELECT event_id::int AS id FROM cabinet.delivery_all WHERE address_id = ${addressId} ORDER BY event_id`,
  )
  return rows.map(({ id }) => id as number)
}

it("an address receives the events that pass its filter, from every channel and batch, and one without a filter receives all", async () => {
  const source = await cabinet.source("Orders")
  const other = await cabinet.source("Others")
  const [url, elsewhere] = [cabinet.address(source), cabinet.address(other)]
  const all = await create({ sources: [source.id] })
  const paid = await create({ sources: "all", filters: [where("state", "eq", "paid"), where("total", "ge", "100")] })
  const big = await create({ sources: [source.id], filters: [where("total", "gt", "12345678901234567890")] })
  const [one = 0, two = 0, three = 0] = await post(
    url,
    '[{"state":"paid","total":100.0},{"state":"paid","total":99.99},{"state":"open","total":12345678901234567891}]',
  )
  const [plain = 0] = await post(elsewhere, '{"state":"paid","total":1e2}')
  await post(elsewhere, '{"state":"paid","total":"0100","n":1}')
  const { id: own } = await cabinet.run(Intake.use((intake) => intake.accept(source.id, { state: "paid", total: 500 })))
  // A repeat also passes the filter, but is not sent.
  await post(url, '{"total":100.0,"state":"paid"}')
  assert.deepStrictEqual(await sentTo(all.id), [one, two, three, own])
  assert.deepStrictEqual(await sentTo(paid.id), [one, plain, own])
  assert.deepStrictEqual(await sentTo(big.id), [three])
  assert.deepInclude(await test(paid.id, two), {
    passes: false,
    reasons: [{ code: "condition", message: "The condition total >= 100 does not hold: the event has 99.99." }],
    deliveryId: null,
  })
  const found = await test(paid.id, one)
  assert.deepInclude(found, { passes: true, reasons: [] })
  assert.isNotNull(found.deliveryId)
})

it("a filter, a subscription and a removal apply from the next event on, even in servers that have cached the source", async () => {
  const source = await cabinet.source("Changing")
  const urls = servers.map((server) => server.address(source))
  let n = 0
  /**
   * Sends one event of each kind through each server; returns whether the events of kinds `a` and `b` were delivered.
   */
  const sends = async (id: number) => {
    const before = (await sentTo(id)).length
    for (const kind of ["a", "b"]) for (const url of urls) await post(url, `{"kind":"${kind}","n":${n++}}`)
    return (await sentTo(id)).length - before
  }
  const { id } = await create({ sources: [source.id] })
  assert.strictEqual(await sends(id), 6)
  assert.deepStrictEqual((await set(id, { filters: [where("kind", "eq", "a")] })).filters, [where("kind", "eq", "a")])
  assert.strictEqual(await sends(id), 3)
  await set(id, { sources: "all" })
  assert.strictEqual(await sends(id), 3)
  const later = await cabinet.source("Later")
  await post(cabinet.address(later), '{"kind":"b"}')
  await set(id, { sources: [later.id] })
  assert.strictEqual(await sends(id), 0)
  await set(id, { sources: [source.id], filters: [] })
  assert.strictEqual(await sends(id), 6)
  await set(id, { filters: [where("kind", "notempty")] })
  await cabinet.run(Addresses.use((addresses) => addresses.remove(id)))
  assert.strictEqual(await sends(id), 0)
})

it("an invalid or a missing condition is refused with a message, and changes nothing", async () => {
  const { id } = await create({ sources: "all", filters: [where("kind", "eq", "none of them")] })
  const refused = (work: Promise<unknown>) =>
    work.then(
      () => assert.fail("was not refused"),
      (error: { readonly code: string }) => error.code,
    )
  assert.strictEqual(await refused(set(id, { filters: [where("", "eq", "a")] })), "bad_filter")
  assert.strictEqual(await refused(create({ sources: "all", filters: [where("a", "empty", "b")] })), "bad_fv")
  assert.strictEqual(await refused(set(999, { filters: [where("kind", "eq", "a")] })), "no_such_address")
  assert.strictEqual(await refused(test(999, 1)), "no_such_address")
  assert.strictEqual(await refused(test(id, 999_999)), "no_such_event")
  await set(id, { url: "https://1.0.0.1/" })
  const [kept] = await database.run(`SELECT filters FROM cabinet.address WHERE id = ${id}`)
  assert.deepStrictEqual(kept, { filters: [where("kind", "eq", "none of them")] })
})

it("a slow accept delays a change of a filter, and its event is delivered by the previous filter", async () => {
  const source = await cabinet.source("Slow")
  const { id } = await create({ sources: [source.id], filters: [where("kind", "eq", "a")] })
  let changed: Promise<unknown> = Promise.resolve()
  let during: ReadonlyArray<number> = []
  await cabinet.run(
    whileAccepting(
      (await cabinet.source("Held")).id,
      "held",
      Effect.promise(async () => {
        changed = set(id, { filters: [where("kind", "eq", "b")] })
        during = await post(servers[1]!.address(source), '{"kind":"a"}')
      }),
    ),
  )
  await changed
  const after = await post(servers[2]!.address(source), '{"kind":"b"}')
  assert.deepStrictEqual(await sentTo(id), [...during, ...after])
})

/** The number of requests that the callers send; the trials send more. */
const REQUESTS = Number(process.env["CABINET_TRIAL_REQUESTS"] ?? 480)

it("each event of 64 callers on three servers is delivered by the filter in force at its commit", async () => {
  const source = await cabinet.source("Busy")
  // A change holds the fence at its commit, so no accept has an uncommitted number then.
  await database.run(
    "CREATE TABLE public.changed (n int8 GENERATED ALWAYS AS IDENTITY, before_event int8, filters json)",
  )
  await database.run(
    `CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
       BEGIN INSERT INTO public.changed (before_event, filters) SELECT last_value, NEW.filters FROM cabinet.event_id; RETURN NULL; END $$`,
  )
  await database.run(
    `CREATE CONSTRAINT TRIGGER note AFTER UPDATE OF filters ON cabinet.address DEFERRABLE INITIALLY DEFERRED
       FOR EACH ROW EXECUTE FUNCTION public.note()`,
  )
  const { id } = await create({ sources: [source.id], filters: [where("kind", "eq", "0")] })
  const whole = await create({ sources: [source.id] })
  let sent = 0
  let changing: Promise<unknown> = Promise.resolve()
  /** Makes one change after another; a change that was not made in time has no effect, and is made again. */
  const next = (n: number) => {
    const filters = n % 160 === 159 ? [] : [where("kind", "eq", String(((n - 39) / 40) % 3))]
    const change = (): Promise<unknown> =>
      set(id, { filters }).catch((error: { readonly _tag?: string }) => {
        if (error._tag !== "StoreUnavailable") throw error
        return change()
      })
    changing = changing.then(change)
    return changing
  }
  const callers = Array.from({ length: 64 }, async (_, caller) => {
    const url = servers[caller % 3]!.address(source)
    while (sent < REQUESTS) {
      const n = sent++
      if (n % 40 === 39) await next(n)
      // Retries like senders do: after a 503 the event was not saved, or the next one is its repeat.
      const body = n % 5 === 0 ? `[{"kind":0,"n":${n}},{"kind":"1","n":${n}}]` : `{"kind":"${n % 3}","n":${n}}`
      let status = 503
      while (status === 503) ({ status } = await send(url, body))
      assert.strictEqual(status, 200)
    }
  })
  await Promise.all(callers)
  const events = await database.run(
    `SELECT id::int AS id, payload ->> 'kind' AS kind FROM cabinet.event WHERE source_id = ${source.id}
       AND repeat_of IS NULL ORDER BY id`,
  )
  // In the order of the changes, because no event may have been accepted between two of them.
  const changed = await database.run("SELECT before_event::int AS before, filters FROM public.changed ORDER BY n")
  const expected: Array<number> = []
  let at = 0
  let kind: string | null = "0"
  for (const event of events) {
    for (; at < changed.length && (changed[at]!["before"] as number) < (event["id"] as number); at++) {
      kind = (changed[at]!["filters"] as ReadonlyArray<FieldFilter> | null)?.[0]?.fv ?? null
    }
    if (kind === null || event["kind"] === kind) expected.push(event["id"] as number)
  }
  assert.isAbove(changed.length, 5)
  assert.deepStrictEqual(await sentTo(id), expected)
  assert.deepStrictEqual(
    await sentTo(whole.id),
    events.map((event) => event["id"] as number),
  )
  assert.isNotEmpty(expected)
  assert.isBelow(expected.length, events.length)
})
