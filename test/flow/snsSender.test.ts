/** A source of an Amazon SNS topic, over HTTP: its subscription is confirmed, and its messages become events. */
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { LateVerification } from "@data-cabinet/core/event/LateVerification"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, beforeEach, it } from "vitest"
import { type IntakeCabinet, intakeCabinet, payloadText } from "../support/intakeCabinet.ts"
import { withDatabase } from "../support/postgres.ts"
import { CERTIFICATE_URL, snsTopic, SUBSCRIBE_URL, TOPIC } from "../support/snsTopic.ts"

const database = withDatabase()
const topic = snsTopic()
const { certificate } = topic.state
const AWAY = Effect.fail(new StoreUnavailable({ message: "away", retryAfter: 20, outcomeUnknown: false }))
let cabinet: IntakeCabinet
beforeAll(async () => {
  cabinet = await intakeCabinet(database.url, { sns: topic.service })
})
afterAll(() => cabinet.close())
beforeEach(() => {
  topic.state.certificate = certificate
  topic.requested.length = 0
})

const post = async (url: string, body: string) => {
  const headers = {
    "content-type": "text/plain; charset=UTF-8",
    "user-agent": "Amazon Simple Notification Service Agent",
  }
  const response = await fetch(url, { method: "POST", body, headers })
  const answer = (await response.json()) as Record<string, unknown>
  return { status: response.status, ...answer } as Record<string, unknown>
}

const VERIFY = { recipe: "sns", secret: TOPIC } as const

it("Intake confirms a subscription if it is verified, and keeps nothing of it", async () => {
  const source = await cabinet.source("Confirmed", { verify: VERIFY })
  assert.deepStrictEqual(await post(cabinet.address(source), topic.confirmation()), { status: 200, ok: true })
  assert.strictEqual(topic.requested.filter((one) => one === SUBSCRIBE_URL).length, 1)
  const forged = topic.confirmation({}, { Token: "another" })
  assert.deepInclude(await post(cabinet.address(source), forged), { status: 401, error: "bad_signature" })
  const elsewhere = topic.confirmation({ SubscribeURL: "https://evil.example/?Action=ConfirmSubscription" })
  assert.deepInclude(await post(cabinet.address(source), elsewhere), { status: 401 })
  assert.strictEqual(topic.requested.filter((one) => one !== CERTIFICATE_URL).length, 1)
  assert.deepStrictEqual(await cabinet.feed(source.id), [])
})

it("Intake keeps a message as sent, refuses a forgery, and has SNS retry if a certificate is unreachable", async () => {
  const source = await cabinet.source("Messages", { verify: VERIFY })
  const url = cabinet.address(source)
  const message = topic.message({ Subject: "Order" })
  assert.deepInclude(await post(url, message), { status: 200, ok: true })
  assert.deepInclude(await post(url, topic.message({}, { Message: "forged" })), { status: 401 })
  assert.deepInclude(await post(url, '{"raw":true}'), { status: 401 })
  topic.state.certificate = AWAY
  assert.deepInclude(await post(url, topic.message({ Message: "later" })), { status: 503, error: "unavailable" })
  topic.state.certificate = certificate
  assert.deepInclude(await post(url, topic.message({ Message: "later" })), { status: 200 })
  const ended = { Type: "UnsubscribeConfirmation", Token: "t", SubscribeURL: SUBSCRIBE_URL }
  assert.deepInclude(await post(url, topic.message(ended)), { status: 200 })
  assert.notInclude(topic.requested, SUBSCRIBE_URL)
  const items = await cabinet.feed(source.id)
  assert.strictEqual(items.length, 3)
  assert.strictEqual(payloadText(items[0]!), message)
})

it("Intake marks unverified messages, and LateVerification checks them by the topic", async () => {
  const other = "arn:aws:sns:eu-central-1:123456789012:other"
  const source = await cabinet.source("Late", { verify: { ...VERIFY, secret: other, mode: "mark" } })
  const url = cabinet.address(source)
  const { id } = (await post(url, topic.message({}))) as { readonly id?: number }
  const forged = (await post(url, topic.message({}, { Message: "forged" }))) as { readonly id?: number }
  const check = () =>
    cabinet.run(
      LateVerification.use((late) =>
        late.events([id!, forged.id!], { deliver: false, baseUrl: "http://cabinet.test" }),
      ),
    )
  const outcomes = async () => (await check()).verdicts.map(({ outcome, reason }) => [outcome, reason])
  assert.deepStrictEqual(await outcomes(), [
    ["refused", "bad_signature"],
    ["refused", "bad_signature"],
  ])
  await database.run(
    `UPDATE cabinet.source SET verify_secret = '${TOPIC}', version = version + 1 WHERE id = ${source.id}`,
  )
  topic.state.certificate = AWAY
  assert.strictEqual((await check().catch((error: unknown) => error)) instanceof Error, true)
  topic.state.certificate = certificate
  assert.deepStrictEqual(await outcomes(), [
    ["verified", null],
    ["refused", "bad_signature"],
  ])
})
