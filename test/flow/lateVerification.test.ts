/**
 * Events whose sender is verified after they were accepted: their signatures are checked, and they are delivered once
 * on request.
 */
import { hash } from "node:crypto"
import { sign as signGithub } from "@octokit/webhooks-methods"
import { type Cabinet, openCabinet } from "data-cabinet"
import { Webhook } from "standardwebhooks"
import { Stripe } from "stripe"
import { afterAll, assert, beforeAll, it } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { type Receiver, startReceiver } from "../support/receiver.ts"
import { SIGNERS } from "../support/senderSignatures.ts"

const BASE = "https://data.example.com"
const database = withDatabase()
let receiver: Receiver
let cabinets: ReadonlyArray<Cabinet>
let cabinet: Cabinet
beforeAll(async () => {
  receiver = await startReceiver()
  const open = () => openCabinet({ databaseUrl: database.url, baseUrl: BASE, allowedNetworks: ["127.0.0.0/8"] })
  cabinets = await Promise.all([open(), open()])
  cabinet = cabinets[0]!
})
afterAll(async () => {
  await Promise.all(cabinets.map((one) => one.close()))
  await receiver.close()
})

type Headers = Readonly<Record<string, string>>

const stripe = new Stripe("sk_test_none", { telemetry: false })
const WHSEC = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
const seconds = () => Math.floor(Date.now() / 1000)

interface Sender {
  readonly recipe: "github" | "stripe" | "standard-webhooks"
  readonly secret: string
  readonly keepHeaders: ReadonlyArray<string>
  readonly sign: (body: string) => Headers | Promise<Headers>
}

/** Senders that sign with their own libraries. */
const SENDERS: ReadonlyArray<Sender> = [
  {
    recipe: "github",
    secret: "It's a Secret to Everybody",
    keepHeaders: ["X-Hub-Signature-256"],
    sign: async (body) => ({ "x-hub-signature-256": await signGithub("It's a Secret to Everybody", body) }),
  },
  {
    recipe: "stripe",
    secret: "whsec_5WbX5kEWLlfzsGNjH64I8lOOqUB6e8FH",
    keepHeaders: ["Stripe-*"],
    sign: (payload) => ({
      "stripe-signature": stripe.webhooks.generateTestHeaderString({
        payload,
        secret: "whsec_5WbX5kEWLlfzsGNjH64I8lOOqUB6e8FH",
        timestamp: seconds(),
      }),
    }),
  },
  {
    recipe: "standard-webhooks",
    secret: WHSEC,
    keepHeaders: ["webhook-*"],
    sign: (body) => ({
      "webhook-id": "msg_1",
      "webhook-timestamp": String(seconds()),
      "webhook-signature": new Webhook(WHSEC).sign("msg_1", new Date(seconds() * 1000), body),
    }),
  },
]

interface Answer {
  readonly id: number
  readonly results?: ReadonlyArray<{ readonly id: number }>
}

const post = async (url: string, body: string, headers: Headers): Promise<Answer> => {
  const response = await cabinet.fetchHandler(
    new Request(url, { method: "POST", body, headers: { "content-type": "application/json", ...headers } }),
  )
  const answer = (await response.json()) as Answer
  assert.strictEqual(response.status, 200, JSON.stringify(answer))
  return answer
}

const eventOf = async (id: number) => (await cabinet.events.inspect(id))!

const sentTo = async (addressId: number) =>
  (
    await database.run(
      `SELECT event_id::int AS id FROM cabinet.delivery_all WHERE address_id = ${addressId} ORDER BY event_id`,
    )
  ).map(({ id }) => id)

it.each(SENDERS)(
  "$recipe: marked with a wrong secret, verified with the right one, then delivered once",
  async (sender) => {
    const { recipe, secret, keepHeaders, sign } = sender
    const wrong = recipe === "standard-webhooks" ? "whsec_plJ3nmyCDGBKInavdOK15jsl" : "wrong"
    const source = await cabinet.sources.create({
      name: `Late ${recipe}`,
      keepHeaders,
      verify: { recipe, mode: "mark", secret: wrong },
    })
    const all = await cabinet.addresses.create({ url: receiver.url, sources: [source.id] })
    const some = await cabinet.addresses.create({
      url: receiver.url,
      sources: [source.id],
      filters: [{ fc: "n", fo: "eq", fv: "2" }],
    })
    const body = '{ "n": 1 }'
    const { id: first } = await post(source.intakeUrl, body, await sign(body))
    const batch = '[{"n":2},{"n":3},{}]'
    const { results } = await post(source.intakeUrl, batch, await sign(batch))
    const [second = 0, third = 0, empty = 0] = results!.map(({ id }) => id)
    const { id: forged } = await post(source.intakeUrl, '{"n":2}', await sign(body))
    const { id: bare } = await post(source.intakeUrl, '{"n":2}', {})
    assert.deepStrictEqual(await sentTo(all.id), [])

    // The secret is still wrong: only the record of the last check changes.
    const before = await cabinet.events.verify([first, bare], { deliver: true })
    assert.deepStrictEqual(before, {
      verdicts: [
        { id: first, outcome: "refused", reason: "bad_signature" },
        { id: bare, outcome: "unchecked", reason: "no_kept_signature" },
      ],
      deliveries: 0,
    })
    await cabinet.sources.change(source.id, { verify: { secret } })
    const passed = await cabinet.events.verify([second])
    assert.deepStrictEqual(passed, { verdicts: [{ id: second, outcome: "verified", reason: null }], deliveries: 0 })
    // A request's verdict applies to all of its events; without `deliver` nothing is sent.
    for (const id of [second, third, empty]) assert.strictEqual((await eventOf(id)).event.verified, true)
    assert.strictEqual((await eventOf(first)).event.verified, false)
    assert.deepStrictEqual(await sentTo(all.id), [])

    const page = await cabinet.events.verifySource(source.id, { deliver: true })
    assert.deepStrictEqual(page, {
      verdicts: [
        { id: first, outcome: "verified", reason: null },
        { id: second, outcome: "was_verified", reason: null },
        { id: third, outcome: "was_verified", reason: null },
        { id: empty, outcome: "was_verified", reason: null },
        { id: forged, outcome: "refused", reason: "bad_signature" },
        { id: bare, outcome: "unchecked", reason: "no_kept_signature" },
      ],
      deliveries: 4,
      seen: 6,
      nextCursor: null,
    })
    assert.deepStrictEqual(await sentTo(all.id), [first, second, third])
    assert.deepStrictEqual(await sentTo(some.id), [second])
    const received = () =>
      receiver.received
        .map((one) => JSON.parse(one.body.toString()).data)
        .filter((data) => data.source.id === source.id)
    await receiver.until(() => received().length === 4)
    for (const data of received()) assert.strictEqual(data.verified, true)

    const again = await cabinet.events.verifySource(source.id, { deliver: true })
    assert.deepStrictEqual([again.deliveries, again.verdicts.map(({ id }) => id)], [0, [forged, bare]])
    assert.strictEqual((await cabinet.events.verify([first, second], { deliver: true })).deliveries, 0)
    assert.strictEqual(received().length, 4)

    // Intake's verdict is kept next to the later one.
    const { original } = await eventOf(first)
    assert.deepStrictEqual(original!.verdict, { recipe, refusal: "bad_signature" })
    assert.deepInclude(original!.late, { recipe, refusal: null })
    assert.match(original!.late!.deliveredAt!, /Z$/)
  },
)

it("events from before the recipe are verified with the later secret, and delivered to addresses that lack them", async () => {
  const { sign, secret, recipe, keepHeaders } = SENDERS[0]!
  const source = await cabinet.sources.create({ name: "Before", keepHeaders })
  const old = await cabinet.addresses.create({ url: receiver.url, sources: [source.id] })
  const body = '{"n":1}'
  const { id: first } = await post(source.intakeUrl, body, await sign(body))
  const { id: copy } = await post(source.intakeUrl, body, await sign(body))
  const { id: forged } = await post(source.intakeUrl, '{"n":2}', await sign(body))
  assert.deepStrictEqual(await sentTo(old.id), [first, forged])
  const refused = await cabinet.events.verifySource(source.id).catch((error: unknown) => error)
  assert.deepInclude(refused, { code: "not_checkable" })
  assert.deepStrictEqual((await cabinet.events.verify([first])).verdicts, [
    { id: first, outcome: "unchecked", reason: "no_recipe" },
  ])
  await cabinet.sources.change(source.id, { verify: { recipe, secret } })
  const later = await cabinet.addresses.create({ url: receiver.url, sources: [source.id] })
  const { deliveries } = await cabinet.events.verifySource(source.id, { deliver: true })
  // An address that has the event does not get it again, and repeats are not delivered.
  assert.strictEqual(deliveries, 1)
  assert.deepStrictEqual(await sentTo(old.id), [first, forged])
  assert.deepStrictEqual(await sentTo(later.id), [first])
  const verdicts = []
  for (const id of [first, copy, forged]) verdicts.push((await eventOf(id)).event.verified)
  // A signature that does not match today's secret proves nothing about the earlier one.
  assert.deepStrictEqual(verdicts, [true, true, undefined])
  assert.strictEqual((await eventOf(copy)).event.repeat_of, first)
  assert.deepInclude((await eventOf(forged)).original!.late, { refusal: "bad_signature" })
})

it("many concurrent verifications in two processes deliver once", async () => {
  const { sign, secret, recipe, keepHeaders } = SENDERS[0]!
  const source = await cabinet.sources.create({
    name: "Together",
    keepHeaders,
    verify: { recipe, mode: "mark", secret: "wrong" },
  })
  const address = await cabinet.addresses.create({ url: "http://127.0.0.1:9/", sources: [source.id] })
  await cabinet.addresses.pause(address.id)
  const ids: Array<number> = []
  for (let n = 0; n < 30; n++) {
    const body = `[{"n":${n}},{"n":${n}.5}]`
    const { results } = await post(source.intakeUrl, body, await sign(body))
    ids.push(...results!.map(({ id }) => id))
  }
  await cabinet.sources.change(source.id, { verify: { secret } })
  // The filters change meanwhile, so a decision by the previous filters is repeated.
  let isOver = false
  const change = () => cabinet.addresses.change(address.id, { filters: [{ fc: "n", fo: "ge", fv: "0" }] })
  const changing = (async () => {
    // A change that waits for too long is refused.
    while (!isOver) await change().catch((error: { code?: string }) => assert.strictEqual(error.code, "unavailable"))
  })()
  const done = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      n % 2 === 0
        ? cabinets[n % 4 === 0 ? 0 : 1]!.events.verify(ids.toReversed(), { deliver: true })
        : cabinets[n % 4 === 1 ? 0 : 1]!.events.verifySource(source.id, { deliver: true }),
    ).map((one) => one.catch((error: { code?: string }) => ({ deliveries: 0, code: error.code }))),
  )
  isOver = true
  await changing
  const rest = await cabinet.events.verifySource(source.id, { deliver: true })
  const all = [...done, rest].reduce((sum, { deliveries }) => sum + deliveries, 0)
  assert.strictEqual(all, 60)
  assert.deepStrictEqual(await sentTo(address.id), ids)
})

it("an uncheckable event says why, and a timestamp is compared with the time of receipt", async () => {
  const { sign, keepHeaders } = SENDERS[0]!
  const plain = await cabinet.sources.create({ name: "Plain", verify: { recipe: "gitlab", mode: "mark", secret: "s" } })
  const { id: shown } = await post(plain.intakeUrl, "{}", { "x-gitlab-token": "other" })
  assert.deepStrictEqual((await cabinet.events.verify([shown])).verdicts[0]!.reason, "plain_secret")
  const source = await cabinet.sources.create({
    name: "Unchecked",
    keepHeaders,
    verify: { recipe: "github", mode: "mark", secret: "wrong" },
  })
  const long = JSON.stringify({ n: "x".repeat(70_000) })
  const { id: cut } = await post(source.intakeUrl, long, await sign(long))
  const { id: own } = await cabinet.intake(source.id, { fields: { n: 1 } })
  assert.deepStrictEqual(
    (await cabinet.events.verify([own, cut])).verdicts.map(({ reason }) => reason),
    ["no_original", "cut_body"],
  )
  const missing = await cabinet.events.verify([cut, 999_999]).catch((error: unknown) => error)
  assert.deepInclude(missing, { code: "no_such_event" })

  const timed = SENDERS[1]!
  const aged = await cabinet.sources.create({
    name: "Aged",
    keepHeaders: timed.keepHeaders,
    verify: { recipe: "stripe", mode: "mark", secret: "wrong" },
  })
  const { id: inTime } = await post(aged.intakeUrl, '{"n":1}', await timed.sign('{"n":1}'))
  const old = stripe.webhooks.generateTestHeaderString({
    payload: '{"n":2}',
    secret: timed.secret,
    timestamp: seconds() - 400,
  })
  const { id: late } = await post(aged.intakeUrl, '{"n":2}', { "stripe-signature": old })
  await cabinet.sources.change(aged.id, { verify: { secret: timed.secret } })
  await database.run("UPDATE cabinet.clock SET shift = interval '3 days'")
  const { verdicts } = await cabinet.events.verify([inTime, late])
  assert.deepStrictEqual(
    verdicts.map(({ outcome, reason }) => [outcome, reason]),
    [
      ["verified", null],
      ["refused", "old_timestamp"],
    ],
  )
  await database.run("UPDATE cabinet.clock SET shift = interval '100 days'")
  assert.deepStrictEqual((await cabinet.events.verify([late])).verdicts[0]!.reason, "no_original")
  const gone = await cabinet.events.verifySource(aged.id)
  assert.deepStrictEqual([gone.seen, gone.nextCursor], [0, null])
  await database.run("UPDATE cabinet.clock SET shift = interval '0'")
})

it("senders that sign the address are verified with the source's current one, and with the query if it is kept", async () => {
  const { sign, secrets } = SIGNERS.square
  for (const keepQuery of [false, true]) {
    const source = await cabinet.sources.create({
      name: `Square ${keepQuery}`,
      keepHeaders: ["X-Square-*"],
      keepQuery,
      verify: { recipe: "square", mode: "mark", secret: secrets[1] },
    })
    const url = `${BASE}/webhook/${source.intakeUrl.split("/").at(-1)!}`
    const send = async (query: string, n: number) => {
      const body = `{"n":${n}}`
      const signing = { secret: secrets[0], body: Buffer.from(body), time: 0, url: `${url}${query}` }
      return (await post(`${source.intakeUrl}${query}`, body, sign(signing).headers)).id
    }
    const bare = await send("", 1)
    const asked = await send("?shop=1", 2)
    await cabinet.sources.change(source.id, { verify: { secret: secrets[0] } })
    const { verdicts } = await cabinet.events.verify([bare, asked])
    assert.deepStrictEqual(
      verdicts.map(({ outcome, reason }) => [outcome, reason]),
      [["verified", null], keepQuery ? ["verified", null] : ["unchecked", "no_kept_query"]],
    )
  }
})

it("pages continue where they ended, and deleted events are verified and not delivered", async () => {
  const { sign, secret, recipe, keepHeaders } = SENDERS[0]!
  const source = await cabinet.sources.create({
    name: "Pages",
    keepHeaders,
    verify: { recipe, mode: "mark", secret: "wrong" },
  })
  const address = await cabinet.addresses.create({ url: receiver.url, sources: [source.id] })
  const ids: Array<number> = []
  for (let n = 0; n < 7; n++) ids.push((await post(source.intakeUrl, `{"n":${n}}`, await sign(`{"n":${n}}`))).id)
  await cabinet.sources.change(source.id, { verify: { secret } })
  await cabinet.events.trash(source.id, [ids[3]!])
  const seen: Array<number> = []
  let cursor: string | null | undefined
  do {
    const page = await cabinet.events.verifySource(source.id, { deliver: true, limit: 3, cursor: cursor ?? undefined })
    seen.push(...page.verdicts.map(({ id }) => id))
    cursor = page.nextCursor
  } while (cursor !== null)
  assert.deepStrictEqual(seen, ids)
  assert.deepStrictEqual(await sentTo(address.id), ids.toSpliced(3, 1))
  const other = await cabinet.events
    .verifySource(source.id, { cursor: hash("sha256", "x", "base64url") })
    .catch((error: unknown) => error)
  assert.deepInclude(other, { code: "bad_cursor" })
})
