/** Each of the libraries that receivers already use verifies the same delivery. */
import { type Cabinet, openCabinet, verifyDelivery } from "data-cabinet"
import { Webhook } from "standardwebhooks"
import { Stripe } from "stripe"
import { Webhook as SvixWebhook } from "svix"
import { afterAll, beforeAll, expect, it } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { type Received, type Receiver, startReceiver } from "../support/receiver.ts"

const database = withDatabase()
let receiver: Receiver
let cabinet: Cabinet
const stripe = new Stripe("sk_test_none", { telemetry: false })

beforeAll(async () => {
  receiver = await startReceiver()
  cabinet = await openCabinet({ databaseUrl: database.url, allowedNetworks: ["127.0.0.0/8"] })
})
afterAll(async () => {
  await cabinet.close()
  await receiver.close()
})

type Verify = (secret: string, body: string, received: Received) => unknown

/** Verifiers, which throw for a forged request. */
const LIBRARIES: Readonly<Record<string, Verify>> = {
  standardwebhooks: (secret, body, { headers }) => new Webhook(secret).verify(body, { ...headers }),
  svix: (secret, body, { headers }) => {
    new SvixWebhook(secret).verify(body, { ...headers })
    return JSON.parse(body) as unknown
  },
  stripe: (secret, body, { signature }) => stripe.webhooks.constructEvent(body, signature, secret),
  "data-cabinet": (secret, body, { signature }) => {
    if (!verifyDelivery(body, signature, secret)) throw new Error("no")
    return JSON.parse(body) as unknown
  },
}

it("one delivery is verified by standardwebhooks, svix, stripe and our own, and a changed one by none", async () => {
  const source = await cabinet.sources.create({ name: "Orders" })
  // Half of all random secrets have a character that only one of the two base64 alphabets has.
  for (let n = 0; n < 8; n++) {
    const address = await cabinet.addresses.create({ url: receiver.url, sources: [source.id] })
    const from = receiver.received.length
    const event = `{"n":${n},"total":0.10,"name":"Заказ 👍","big":12345678901234567890}`
    const headers = { "content-type": "application/json" }
    await cabinet.fetchHandler(new Request(source.intakeUrl, { method: "POST", headers, body: event }))
    await receiver.until(({ length }) => length > from)
    const received = receiver.received[from]!
    const body = received.body.toString()
    expect(body).toContain(`"payload":${event}`)
    expect(received.headers["webhook-id"]).toBe(received.headers["x-service-delivery"])
    for (const [name, verify] of Object.entries(LIBRARIES)) {
      expect(verify(address.secret, body, received), name).toMatchObject({ type: "event.received" })
      expect(() => verify(address.secret, body.replace("0.10", "0.1"), received), name).toThrow()
    }
    await cabinet.addresses.remove(address.id)
  }
})

it("all of them accept either secret during a rotation", async () => {
  const { id, secret } = await cabinet.addresses.create({ url: receiver.url })
  const rotated = await cabinet.addresses.rotateSecret(id)
  const from = receiver.received.length
  await cabinet.addresses.ping(id)
  const received = receiver.received[from]!
  const body = received.body.toString()
  for (const [name, verify] of Object.entries(LIBRARIES)) {
    for (const either of [secret, rotated.secret]) {
      expect(verify(either, body, received), name).toMatchObject({ type: "ping" })
    }
    expect(() => verify(`whsec_${Buffer.alloc(32, 1).toString("base64")}`, body, received), name).toThrow()
  }
})
