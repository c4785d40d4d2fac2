/** Sources that keep unsigned requests: each event has one verdict, and unverified events are not delivered. */
import { createHmac } from "node:crypto"
import { Addresses } from "@data-cabinet/core/delivery/Addresses"
import { EventBrowser } from "@data-cabinet/core/event/EventBrowser"
import { EventDetail } from "@data-cabinet/core/event/EventDetail"
import { originalShape } from "@data-cabinet/core/event/OriginalShape"
import { Intake } from "@data-cabinet/core/intake/Intake"
import type { SourceWithSecret } from "@data-cabinet/core/source/Source"
import { Sources } from "@data-cabinet/core/source/Sources"
import type { VerificationChange } from "@data-cabinet/core/verification/Verification"
import { Option } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { type IntakeCabinet, intakeCabinet } from "../support/intakeCabinet.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
/** Two servers, each with its own cache of sources. */
let servers: ReadonlyArray<IntakeCabinet>
let cabinet: IntakeCabinet
beforeAll(async () => {
  servers = await Promise.all([1, 2].map(() => intakeCabinet(database.url)))
  cabinet = servers[0]!
})
afterAll(() => Promise.all((servers ?? []).map((server) => server.close())))

const MARK = { recipe: "github", mode: "mark", secret: "right" } as const

interface Answer {
  readonly id: number
  readonly duplicate: boolean
  readonly results?: ReadonlyArray<{ readonly id: number }>
}

const post = async (source: SourceWithSecret, body: string, secret: string | null, server = cabinet) => {
  const signature = secret === null ? null : createHmac("sha256", secret).update(body).digest("hex")
  const response = await fetch(server.address(source), {
    method: "POST",
    body,
    headers: {
      "content-type": "application/json",
      ...(signature === null ? {} : { "x-hub-signature-256": `sha256=${signature}` }),
    },
  })
  const answer = (await response.json()) as Answer
  assert.strictEqual(response.status, 200, JSON.stringify(answer))
  return answer
}

const address = (source: SourceWithSecret, filters: Parameters<typeof filtersOf>[0] = []) =>
  cabinet.run(
    Addresses.use((addresses) =>
      addresses.create({ url: "https://1.1.1.1/", sources: [source.id], filters: filtersOf(filters) }),
    ),
  )

const filtersOf = (all: ReadonlyArray<readonly [fc: string, fv: string]>) =>
  all.map(([fc, fv]) => ({ fc, fo: "eq" as const, fv }))

const change = (id: number, verify: VerificationChange | null) =>
  cabinet.run(Sources.use((sources) => sources.change(id, { verify })))

const verdicts = async (source: SourceWithSecret) =>
  (await cabinet.feed(source.id)).map((item) => {
    const { id, verified, repeat_of: repeatOf } = JSON.parse(item) as Record<string, unknown>
    return [id, verified, repeatOf]
  })

const sentTo = async (addressId: number) =>
  (
    await database.run(
      `SELECT event_id::int AS id FROM cabinet.delivery_all WHERE address_id = ${addressId} ORDER BY event_id`,
    )
  ).map(({ id }) => id)

it("an unverified request is an event and a row, has its verdict and its reason, and is not delivered", async () => {
  const source = await cabinet.source("Marked", { verify: MARK })
  const all = await address(source)
  const some = await address(source, [["n", "2"]])
  const good = await post(source, '{"n":1}', "right")
  const wrong = await post(source, '{"n":2}', "wrong")
  const none = await post(source, '[{"n":2},{"n":4}]', null)
  const [third = { id: 0 }, fourth = { id: 0 }] = none.results ?? []
  const genuine = await post(source, '{"n":2}', "right")
  const { id: own } = await cabinet.run(Intake.use((intake) => intake.accept(source.id, { n: "2" })))
  assert.deepStrictEqual(await verdicts(source), [
    [good.id, true, null],
    [wrong.id, false, null],
    [third.id, false, null],
    [fourth.id, false, null],
    [genuine.id, true, null],
    // Without a request, there is no verdict.
    [own, undefined, null],
  ])
  assert.deepStrictEqual(await sentTo(all.id), [good.id, genuine.id, own])
  assert.deepStrictEqual(await sentTo(some.id), [genuine.id, own])
  const rows = await database.run(`SELECT FROM sources."${source.table!.name}"`)
  assert.strictEqual(rows.length, 6)

  const inspected = async (id: number) =>
    Option.getOrThrow(await cabinet.run(EventDetail.use((events) => events.find(id))))
  const reasons = []
  for (const { id } of [good, wrong, third, fourth]) {
    const { event, original } = await inspected(id)
    reasons.push([
      JSON.parse(event).verified,
      original === null ? undefined : originalShape.json(original).verification,
    ])
  }
  const reason = (verified: boolean, code: string | null) => [verified, { recipe: "github", verified, reason: code }]
  assert.deepStrictEqual(reasons, [
    reason(true, null),
    reason(false, "bad_signature"),
    reason(false, "no_signature"),
    reason(false, "no_signature"),
  ])
  const listed = await cabinet.run(
    EventBrowser.use((events) => events.page({ limit: 10, sourceId: source.id, state: "unverified" })),
  )
  assert.deepStrictEqual(
    listed.items.map(({ event }) => JSON.parse(event).id),
    [fourth.id, third.id, wrong.id],
  )
  const tested = await cabinet.run(Addresses.use((addresses) => addresses.test(some.id, wrong.id)))
  assert.deepInclude(tested, {
    passes: false,
    reasons: [{ code: "unverified", message: "The event's sender could not be verified." }],
  })
})

it("a forgery that arrives first does not make the genuine event a repeat, and is never itself a repeat", async () => {
  const source = await cabinet.source("Swallowed", { verify: MARK })
  const all = await address(source)
  const body = '{"order":1}'
  const answers: Array<Answer> = []
  for (const secret of ["wrong", "right", "wrong", "right", null]) answers.push(await post(source, body, secret))
  const ids = answers.map(({ id }) => id)
  assert.deepStrictEqual(
    answers.map(({ duplicate }) => duplicate),
    [false, false, false, true, false],
  )
  assert.deepStrictEqual(
    await verdicts(source),
    [false, true, false, true, false].map((verified, n) => [ids[n], verified, n === 3 ? ids[1] : null]),
  )
  assert.deepStrictEqual(await sentTo(all.id), [ids[1]])
})

it("events are marked as verified in the mode reject, and have no mark without a recipe", async () => {
  const source = await cabinet.source("Refusing", { verify: { ...MARK, mode: "reject" } })
  await post(source, '{"n":1}', "right")
  await change(source.id, null)
  await post(source, '{"n":2}', "right")
  const [first = "", second = ""] = await cabinet.feed(source.id)
  assert.match(first, /,"deleted_at":null,"verified":true}$/)
  assert.match(second, /,"deleted_at":null}$/)
})

it("each event has the verdict of the setting in force at its commit, while the setting changes", async () => {
  const source = await cabinet.source("Changing", { verify: MARK })
  const all = await address(source)
  let isOver = false
  let n = 0
  const senders = Array.from({ length: 8 }, async (_, sender) => {
    for (let sent = 0; sent < 3 || !isOver; sent++) {
      await post(source, `[{"n":${n++}},{"n":${n++}}]`, "wrong", servers[sender % 2])
    }
  })
  for (let turn = 0; turn < 12; turn++) {
    await change(source.id, turn % 2 === 0 ? null : MARK)
    await post(source, `{"turn":${turn}}`, "wrong")
  }
  isOver = true
  await Promise.all(senders)
  const events = await database.run(
    `SELECT e.id::int AS id, e.verified, o.recipe, o.refusal, e.payload->>'turn' AS turn FROM cabinet.event e
     JOIN cabinet.original_request o ON o.id = e.original_request_id WHERE e.source_id = ${source.id} ORDER BY e.id`,
  )
  assert.isAbove(events.length, 50)
  const delivered = new Set(await sentTo(all.id))
  for (const { id, verified, recipe, refusal, turn } of events) {
    const asked = recipe !== null
    assert.deepStrictEqual([verified, refusal], asked ? [false, "bad_signature"] : [null, null])
    assert.strictEqual(delivered.has(id), !asked, `event ${String(id)}`)
    if (turn !== null) assert.strictEqual(asked, Number(turn) % 2 === 1, `turn ${String(turn)}`)
  }
})

it("a repeated rotation keeps the secret that the sender still has", async () => {
  const source = await cabinet.source("Twice", { verify: { ...MARK, mode: "reject" } })
  const rotation = { secret: "second", keepOldSecret: true }
  for (let time = 0; time < 3; time++) await change(source.id, rotation)
  await post(source, '{"n":1}', "right")
  await post(source, '{"n":2}', "second")
  await change(source.id, { ...rotation, keepOldSecret: false })
  await post(source, '{"n":3}', "second")
  const { verify } = await change(source.id, { secret: "third", keepOldSecret: true })
  assert.deepInclude(verify, { recipe: "github", mode: "reject", keepsOldSecret: true })
  await post(source, '{"n":4}', "second")
  await post(source, '{"n":5}', "third")
})
