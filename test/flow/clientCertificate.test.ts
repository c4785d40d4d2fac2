/** Client certificates of addresses: how they are set, shown, changed, moved, removed, encrypted, and never mixed. */
import { randomBytes } from "node:crypto"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { type Address, type Cabinet, type ClientIdentity, openCabinet } from "data-cabinet"
import { afterAll, beforeAll, expect, it } from "vitest"
import { Authority, type Issued } from "../support/certificates.ts"
import { type IdentifiedReceiver, startIdentifiedReceiver } from "../support/identifiedReceiver.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
const servers = new Authority("servers")
const clients = new Authority("clients")
const strangers = new Authority("strangers")
let receiver: IdentifiedReceiver
let other: IdentifiedReceiver
/** Two processes of one cabinet, each with its own delivery loop. */
let cabinets: ReadonlyArray<Cabinet>
let cabinet: Cabinet

const open = (secretKey?: string) =>
  openCabinet({
    databaseUrl: database.url,
    allowedNetworks: ["127.0.0.0/8"],
    ...(secretKey === undefined ? {} : { secretKey }),
  })

beforeAll(async () => {
  setDefaultCACertificates([...getCACertificates(), servers.cert])
  const server = servers.issue("receiver")
  receiver = await startIdentifiedReceiver(server, [clients.cert])
  other = await startIdentifiedReceiver(server, [clients.cert])
  cabinets = [await open(), await open()]
  cabinet = cabinets[0]!
})
afterAll(async () => {
  await Promise.all((cabinets ?? []).map((one) => one.close()))
  await Promise.all([receiver.close(), other.close()])
  for (const authority of [servers, clients, strangers]) authority.remove()
})

const identityOf = ({ cert, key }: Issued): ClientIdentity => ({ certificate: cert, key })
const [a, b] = [clients.issue("a"), clients.issue("b")]

/** A line that is unique to the key, because all keys begin alike. */
const lineOf = ({ key }: Issued): string => key.split("\n")[2]!

const clientOf = async (id: number, of = cabinet) => {
  const outcome = await of.addresses.ping(id)
  return outcome.delivered ? receiver.received.at(-1)!.client : outcome.failure
}

const stored = async (id: number) => {
  const columns = "client_certificate, client_key, client_certificate_ends_at"
  return (await database.run(`SELECT ${columns} FROM cabinet.address WHERE id = ${id}`))[0]!
}

const url = () => `${receiver.origin}/hook`

it("pings, deliveries and resent deliveries present the certificate, and the key is shown nowhere", async () => {
  const source = await cabinet.sources.create({ name: "Orders" })
  const made = await cabinet.addresses.create({ url: url(), sources: [source.id], clientIdentity: identityOf(a) })
  expect(made.clientCertificate).toMatchObject({ subject: "CN=a", issuer: "CN=clients" })
  expect(made.clientCertificate!.fingerprint).toMatch(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/)
  expect(await clientOf(made.id)).toBe("a")
  const from = receiver.received.length
  await cabinet.intake(source.id, { fields: { n: 1 } })
  await expect.poll(() => receiver.received.length).toBe(from + 1)
  const { client, type, deliveryId } = receiver.received.at(-1)!
  expect([client, type]).toEqual(["a", "event.received"])
  await expect.poll(async () => (await cabinet.addresses.log(made.id)).length).toBe(2)
  await cabinet.addresses.resend(deliveryId)
  await expect.poll(() => receiver.received.length).toBe(from + 2)
  expect(receiver.received.at(-1)).toMatchObject({ client: "a", deliveryId })
  const told = [await cabinet.addresses.list(), await cabinet.addresses.log(made.id)]
  const audit = await database.run("SELECT changes::text FROM cabinet.audit")
  expect(JSON.stringify([told, audit])).not.toContain(lineOf(a))
  expect(JSON.stringify(audit)).toContain(made.clientCertificate!.fingerprint)
  await cabinet.addresses.remove(made.id)
  expect(await stored(made.id)).toEqual({
    client_certificate: null,
    client_key: null,
    client_certificate_ends_at: null,
  })
})

it("nothing arrives without a certificate, or with one that is expired or from another authority, and the log says why", async () => {
  const { id } = await cabinet.addresses.create({ url: url(), sources: [] })
  expect(await clientOf(id)).toBe("the receiver demands a client certificate")
  await cabinet.addresses.change(id, { clientIdentity: identityOf(strangers.issue("stranger")) })
  expect(await clientOf(id)).toMatch(/; perhaps the receiver does not accept the client certificate$/)
  // An expired certificate is refused when set; one that expires later is still presented, and the receiver decides.
  const over = clients.issue("over", { from: -9, to: -1 })
  const refused = cabinet.addresses.change(id, { clientIdentity: identityOf(over) })
  await expect(refused).rejects.toMatchObject({
    code: "bad_certificate",
    message: expect.stringMatching(/^The certificate ended at /),
  })
  await database.run(
    `UPDATE cabinet.address SET client_certificate = '${over.cert}', client_key = '${over.key}' WHERE id = ${id}`,
  )
  expect(await clientOf(id)).toMatch(/; perhaps the receiver does not accept the client certificate$/)
  const early = cabinet.addresses.change(id, { clientIdentity: identityOf(clients.issue("early", { from: 1 })) })
  await expect(early).rejects.toMatchObject({ code: "bad_certificate", message: expect.stringMatching(/ begins at /) })
  const mismatched = cabinet.addresses.change(id, { clientIdentity: { certificate: a.cert, key: b.key } })
  await expect(mismatched).rejects.toMatchObject({
    code: "bad_client_key",
    message: expect.not.stringContaining(lineOf(b)),
  })
  // A new certificate applies from the next request on, in every process.
  await cabinet.addresses.change(id, { clientIdentity: identityOf(a) })
  expect([await clientOf(id), await clientOf(id, cabinets[1])]).toEqual(["a", "a"])
  await cabinet.addresses.change(id, { clientIdentity: identityOf(b) })
  expect([await clientOf(id), await clientOf(id, cabinets[1])]).toEqual(["b", "b"])
  const { clientCertificate } = await cabinet.addresses.change(id, { clientIdentity: null })
  expect(clientCertificate).toBeNull()
  expect(await clientOf(id)).toBe("the receiver demands a client certificate")
  await cabinet.addresses.remove(id)
})

it("two processes send to two addresses of one origin at the same time, each with its own certificate", async () => {
  const source = await cabinet.sources.create({ name: "Shared" })
  const own: ReadonlyArray<readonly [string, Issued]> = [
    ["a", a],
    ["b", b],
  ]
  const made: Array<Address> = []
  for (const [name, issued] of own) {
    const address = { url: `${receiver.origin}/${name}`, sources: [source.id], clientIdentity: identityOf(issued) }
    made.push(await cabinet.addresses.create(address))
  }
  const from = receiver.received.length
  await Promise.all(Array.from({ length: 200 }, (_, n) => cabinets[n % 2]!.intake(source.id, { fields: { n } })))
  await expect.poll(() => receiver.received.length).toBeGreaterThanOrEqual(from + 400)
  const seen = receiver.received.slice(from)
  expect(seen.filter(({ client, path }) => path !== `/${client}`)).toEqual([])
  const connections = Map.groupBy(seen, ({ connection }) => connection)
  expect([...connections.values()].filter((used) => new Set(used.map(({ client }) => client)).size > 1)).toEqual([])
  for (const { id } of made) await cabinet.addresses.remove(id)
})

it("a certificate needs https, and is sent only to the origin that it was given for", async () => {
  const plain = { url: url().replace("https:", "http:"), sources: [], clientIdentity: identityOf(a) }
  await expect(cabinet.addresses.create(plain)).rejects.toMatchObject({ code: "bad_certificate" })
  const { id } = await cabinet.addresses.create({ ...plain, url: url() })
  for (const elsewhere of [`${other.origin}/hook`, plain.url]) {
    const moving = cabinet.addresses.change(id, { url: elsewhere })
    await expect(moving).rejects.toMatchObject({ code: "certificate_needed", message: expect.stringContaining("CN=a") })
  }
  const unsafe = cabinet.addresses.change(id, { url: plain.url, clientIdentity: identityOf(b) })
  await expect(unsafe).rejects.toMatchObject({ code: "bad_certificate" })
  // Another path does not change the origin.
  expect(await cabinet.addresses.change(id, { url: `${url()}/v2` })).toMatchObject({
    clientCertificate: { subject: "CN=a" },
  })
  await cabinet.addresses.change(id, { url: `${other.origin}/hook`, clientIdentity: identityOf(b) })
  await cabinet.addresses.ping(id)
  expect(other.received.at(-1)!.client).toBe("b")
  await cabinet.addresses.change(id, { url: plain.url, clientIdentity: null })
  await cabinet.addresses.change(id, { url: url(), clientIdentity: identityOf(a) })
  // A certificate set for one origin must not be sent to another that is set at the same time.
  const [given, moved] = await Promise.allSettled([
    cabinet.addresses.change(id, { clientIdentity: identityOf(b) }),
    cabinets[1]!.addresses.change(id, { url: `${other.origin}/hook`, clientIdentity: null }),
  ])
  const now = await cabinet.addresses.get(id)
  if (now.url.startsWith(other.origin)) expect(now.clientCertificate).toBeNull()
  expect([given.status, moved.status]).toContain("fulfilled")
  await cabinet.addresses.remove(id)
})

it("the key is encrypted when a secret key is set, even after that changes, and nothing is sent without it", async () => {
  const [first, second] = [randomBytes(32).toString("base64"), randomBytes(32).toString("base64")]
  const { id } = await cabinet.addresses.create({ url: url(), sources: [], clientIdentity: identityOf(a) })
  expect((await stored(id))["client_key"]).toContain(lineOf(a))
  const opened = [await open(first)]
  const [certificate, encrypted] = [(await stored(id))["client_certificate"], (await stored(id))["client_key"]]
  expect([certificate, encrypted]).toEqual([a.cert, expect.stringMatching(/^enc\.v1\./)])
  expect(await clientOf(id, opened[0])).toBe("a")
  // A process without the key cannot sign a ping either, so it reports that first.
  const secret = `UPDATE cabinet.address SET secret = 'whsec_anew' WHERE id = ${id}`
  await database.run(secret)
  expect(await clientOf(id)).toBe(
    "not sent: the key of the client certificate cannot be decrypted with CABINET_SECRET_KEY",
  )
  opened.push(await open(`${second},${first}`))
  const again = (await stored(id))["client_key"]
  expect(again).toMatch(/^enc\.v1\./)
  expect(again).not.toBe(encrypted)
  opened.push(await open(second))
  expect(await clientOf(id, opened[2])).toBe("a")
  // New keys are encrypted at once, and an encrypted value is useless for another purpose.
  await opened[2]!.addresses.change(id, { clientIdentity: identityOf(b) })
  expect((await stored(id))["client_key"]).toMatch(/^enc\.v1\./)
  expect(await clientOf(id, opened[2])).toBe("b")
  opened.push(await open(`none,${second}`))
  expect((await stored(id))["client_key"]).toContain("PRIVATE KEY")
  expect(await clientOf(id)).toBe("b")
  await Promise.all(opened.map((one) => one.close()))
  await cabinet.addresses.remove(id)
})
