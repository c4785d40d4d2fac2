/** Encryption of secrets and headers under a key outside the database: the key is introduced, changed, lost and removed. */
import { randomBytes } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { type Cabinet, openCabinet, verifyDelivery } from "data-cabinet"
import { afterAll, afterEach, beforeAll, expect, it } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { type Receiver, startReceiver } from "../support/receiver.ts"

const database = withDatabase()
const [first, second] = [randomBytes(32).toString("base64"), randomBytes(32).toString("base64url")]
const HEADER = "Bearer enc.v1. a secret of the feed"
const CONSUMER = "the consumer secret"
const PROOF = "secret-of-the-provider"
const SENDERS = ["the sender's secret", "the sender's next secret"] as const
let receiver: Receiver
const asked: Array<string | undefined> = []
const polled = createServer((request, response) => {
  asked.push(request.headers["authorization"])
  response.writeHead(200, { "content-type": "application/json" }).end("[]")
})
const opened = new Set<Cabinet>()

const open = async (secretKey?: string) => {
  const cabinet = await openCabinet({
    databaseUrl: database.url,
    delivery: false,
    allowedNetworks: ["127.0.0.0/8"],
    ...(secretKey === undefined ? {} : { secretKey }),
  })
  opened.add(cabinet)
  return cabinet
}

const close = async (cabinet: Cabinet) => {
  opened.delete(cabinet)
  await cabinet.close()
}

/** The stored values that a copy of the database would show. */
const stored = async () => {
  const [addresses, sources, polls] = [
    await database.run("SELECT secret, previous_secret, headers::text FROM cabinet.address ORDER BY id"),
    await database.run(
      "SELECT intake_secret, verify_secret, verify_old_secret, challenge_secret, proof_secret FROM cabinet.source ORDER BY id",
    ),
    await database.run("SELECT headers::text FROM cabinet.poll ORDER BY id"),
  ]
  return JSON.stringify([addresses, sources, polls])
}

const secretOf = (url: string): string => url.slice(url.lastIndexOf("/") + 1)

/** Whether the address's next delivery is signed with these secrets. */
const signs = async (cabinet: Cabinet, id: number, ...secrets: ReadonlyArray<string>) => {
  const before = receiver.received.length
  expect(await cabinet.addresses.ping(id)).toMatchObject({ status: 204, failure: null })
  const { body, signature, headers } = receiver.received[before]!
  if (id === address.id) expect(headers).toMatchObject({ authorization: HEADER })
  return secrets.map((secret) => verifyDelivery(body, signature, secret))
}

/** Whether the poll's next request has its header. */
const authorized = async (cabinet: Cabinet, id: number) => {
  asked.length = 0
  expect(await cabinet.polls.run(id)).toMatchObject({ outcome: "read", failure: null })
  return asked.map((header) => header === HEADER)
}

/** The statuses of requests that have these secrets. */
const verified = async (cabinet: Cabinet, ...secrets: ReadonlyArray<string>) => {
  const statuses: Array<number> = []
  for (const secret of secrets) {
    const request = new Request(intakeUrl, { method: "POST", headers: { authorization: `Bearer ${secret}` } })
    statuses.push((await cabinet.fetchHandler(request)).status)
  }
  return statuses
}

/** The status of the response to the provider's question. */
const answers = async (cabinet: Cabinet) => {
  return (await cabinet.fetchHandler(new Request(`${intakeUrl}?crc_token=abc`))).status
}

let sourceId: number
let intakeUrl: string
let address: { readonly id: number; readonly secret: string }
let poll: number

beforeAll(async () => {
  receiver = await startReceiver()
  await new Promise<void>((resolve) => polled.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(polled.address() as AddressInfo).port}/`
  const plain = await open()
  const source = await plain.sources.create({
    name: "Orders",
    verify: { recipe: "bearer", secret: SENDERS[0] },
    challenge: { provider: "x", secret: CONSUMER },
    proof: { kind: "hcaptcha", siteKey: "10000000", secret: PROOF },
  })
  sourceId = source.id
  intakeUrl = source.intakeUrl
  const headers = [["Authorization", HEADER]] as const
  address = await plain.addresses.create({ url: receiver.url, headers })
  poll = (await plain.polls.create({ sourceId: source.id, url, everySeconds: 86_400, headers })).id
})
afterEach(() => Promise.all([...opened].map(close)))
afterAll(async () => {
  await receiver.close()
  polled.close()
  polled.closeAllConnections()
})

it("stored secrets are encrypted when a key is set, and new ones as well", async () => {
  const before = await stored()
  for (const secret of [address.secret, SENDERS[0], HEADER, CONSUMER, PROOF]) expect(before).toContain(secret)
  const cabinet = await open(first)
  const added = await cabinet.addresses.create({ url: receiver.url })
  await cabinet.sources.change(sourceId, { verify: { secret: SENDERS[1], keepOldSecret: true } })
  expect(await verified(cabinet, ...SENDERS, "another")).toEqual([200, 200, 401])
  const rotated = await cabinet.addresses.rotateSecret(added.id)
  expect(rotated.previousSecret!.secret).toBe(added.secret)
  const text = await stored()
  for (const secret of [address.secret, added.secret, rotated.secret, ...SENDERS, HEADER, CONSUMER, PROOF]) {
    expect(text).not.toContain(secret)
  }
  expect(text.match(/enc\.v1\./g)).toHaveLength(10)
  expect(await answers(cabinet)).toBe(200)
  expect(await cabinet.addresses.get(address.id)).toMatchObject({ secret: address.secret })
  expect(await signs(cabinet, address.id, address.secret)).toEqual([true])
  expect(await signs(cabinet, added.id, added.secret, rotated.secret)).toEqual([true, true])
  expect(await authorized(cabinet, poll)).toEqual([true])
  // Encrypted values stay unchanged when others are added.
  const extended = await cabinet.addresses.change(address.id, { setHeaders: [["X-Other", HEADER]] })
  expect(extended.headerNames).toEqual(["Authorization", "X-Other"])
  expect(await signs(cabinet, address.id, address.secret)).toEqual([true])
  await cabinet.addresses.change(address.id, { removeHeaders: ["X-Other"] })
  await cabinet.polls.change(poll, { headers: [["Authorization", HEADER]] })
  expect(await stored()).not.toContain(HEADER)
  expect(await authorized(cabinet, poll)).toEqual([true])
  expect((await cabinet.polls.list()).map(({ headerNames }) => headerNames)).toEqual([["Authorization"]])
  await cabinet.addresses.remove(added.id)
})

it("the secret of an intake address is encrypted, shown decrypted, and replaced by another", async () => {
  const cabinet = await open(first)
  expect(await stored()).not.toContain(secretOf(intakeUrl))
  expect(await cabinet.sources.reveal(sourceId)).toMatchObject({ intakeUrl })
  const { id, intakeUrl: own } = await cabinet.sources.create({ name: "Own" })
  const rotated = await cabinet.sources.rotateSecret(id)
  for (const url of [own, rotated.intakeUrl]) expect(await stored()).not.toContain(secretOf(url))
  expect(await cabinet.sources.reveal(id)).toMatchObject({ intakeUrl: rotated.intakeUrl })
  for (const [url, status] of [
    [own, 404],
    [rotated.intakeUrl, 200],
  ] as const) {
    expect((await cabinet.fetchHandler(new Request(url, { method: "POST", body: "a=1" }))).status).toBe(status)
  }
  await cabinet.sources.remove(id, { dropTable: true })
})

it("without the key the cabinet does not open, and the reason says what to do", async () => {
  for (const key of [undefined, second, `none,${second}`]) {
    await expect(open(key)).rejects.toThrow(
      /encrypted with a key that is not in CABINET_SECRET_KEY \(its id is [0-9a-f]{8}\)/,
    )
  }
})

it("a new key is added in front, then the old one is removed", async () => {
  const old = await stored()
  const both = await open(`${second}, ${first}`)
  expect(await signs(both, address.id, address.secret)).toEqual([true])
  await close(both)
  expect(await stored()).not.toBe(old)
  const cabinet = await open(second)
  expect(await signs(cabinet, address.id, address.secret)).toEqual([true])
  expect(await authorized(cabinet, poll)).toEqual([true])
  expect(await verified(cabinet, ...SENDERS, "another")).toEqual([200, 200, 401])
  expect(await answers(cabinet)).toBe(200)
  // Nothing is written unless it has to be.
  const text = await stored()
  await open(second)
  expect(await stored()).toBe(text)
})

it("a process with another key fails its attempts with a message, and sends nothing unsigned", async () => {
  const late = await open(`${second},${first}`)
  const other = await open(`${randomBytes(32).toString("base64")},${second}`)
  const before = receiver.received.length
  const words = /signing secret cannot be decrypted with CABINET_SECRET_KEY/
  expect(await late.addresses.ping(address.id)).toMatchObject({ status: null, failure: expect.stringMatching(words) })
  const run = await late.polls.run(poll)
  expect([run.outcome, run.failure]).toEqual(["failed", expect.stringMatching(/poll's headers cannot be decrypted/)])
  expect(receiver.received).toHaveLength(before)
  // It can neither take a request nor call it a forgery.
  expect(await verified(late, SENDERS[1], "another")).toEqual([503, 503])
  expect(await verified(other, SENDERS[1], "another")).toEqual([200, 401])
  expect([await answers(late), await answers(other)]).toEqual([503, 200])
  expect(await signs(other, address.id, address.secret)).toEqual([true])
  // Back to the key before; a third is not known here.
  await close(other)
  await expect(open(second)).rejects.toThrow(/not in CABINET_SECRET_KEY/)
  const headers = `[["Authorization", "${HEADER}"]]`
  await database.run(
    `UPDATE cabinet.address SET secret = 'whsec_anew', headers = '${headers}' WHERE removed_at IS NULL`,
  )
  await database.run("UPDATE cabinet.source SET intake_secret = 'given up'")
  await database.run(
    `UPDATE cabinet.source SET verify_secret = 'given up', verify_old_secret = NULL, challenge_secret = 'given up', proof_secret = 'given up' WHERE id = ${sourceId}`,
  )
  await database.run(`UPDATE cabinet.address SET secret = 'x', previous_secret = NULL WHERE removed_at IS NOT NULL`)
  await database.run(`UPDATE cabinet.poll SET headers = '${headers}'`)
})

it("one damaged secret does not affect other addresses, and rotation replaces it", async () => {
  const cabinet = await open(second)
  const [hurt, well] = [
    await cabinet.addresses.create({ url: receiver.url }),
    await cabinet.addresses.create({ url: receiver.url }),
  ]
  await database.run(
    `UPDATE cabinet.address SET secret = overlay(secret placing 'AAAAAAAA' from 30) WHERE id = ${hurt.id}`,
  )
  expect(await cabinet.addresses.ping(hurt.id)).toMatchObject({ status: null })
  expect(await signs(cabinet, well.id, well.secret)).toEqual([true])
  expect(await cabinet.addresses.list()).toHaveLength(3)
  const again = await open(second)
  const { secret } = await again.addresses.rotateSecret(hurt.id)
  expect(await signs(again, hurt.id, secret)).toEqual([true])
})

it("encryption is removed with `none` in front", async () => {
  await database.run("DELETE FROM cabinet.address WHERE secret = 'x'")
  await database.run("UPDATE cabinet.address SET previous_secret = NULL")
  const cabinet = await open(`none,${second}`)
  expect(await authorized(cabinet, poll)).toEqual([true])
  await close(cabinet)
  expect(await stored()).not.toMatch(/encrypted|"enc\.v1\./)
  const plain = await open()
  expect(await signs(plain, address.id, "whsec_anew")).toEqual([true])
  expect(await verified(plain, "given up", SENDERS[0])).toEqual([200, 401])
})

it.each(["short", `${first},none`, `${first} ${second}`, "none,none"])(
  "refuses %s as a key, and shows no key",
  async (key) => {
    await expect(open(key)).rejects.toThrow(
      /^CABINET_SECRET_KEY is not valid: it must be 32 bytes in base64|^secretKey/,
    )
  },
)
