/** Deliveries whose bodies are those of their receivers: written when they are sent, signed as sent, and previewed. */
import { type Cabinet, openCabinet, verifyDelivery } from "data-cabinet"
import { afterAll, beforeAll, expect, it } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { type Receiver, startReceiver } from "../support/receiver.ts"

const database = withDatabase()
let cabinet: Cabinet
const receivers: Array<Receiver> = []

beforeAll(async () => {
  cabinet = await openCabinet({ databaseUrl: database.url, allowedNetworks: ["127.0.0.0/8"] })
})
afterAll(async () => {
  await cabinet?.close()
  for (const receiver of receivers) await receiver.close()
})

const receiver = async () => {
  const made = await startReceiver()
  receivers.push(made)
  return made
}

const TOTAL = 12345678901234567890n
const submit = (sourceId: number, name: string) => cabinet.intake(sourceId, { fields: { name, total: TOTAL } })

it("a delivery by template is sent as written and signed, and written again when it is sent again", async () => {
  const source = await cabinet.sources.create({ name: "Orders" })
  const { url, received, until } = await receiver()
  const template = `{"customer": "{{payload.name}}", "sum": "{{payload.total}}"}`
  const body = { kind: "template", template, method: "PUT", contentType: "application/vnd.api+json" } as const
  const address = await cabinet.addresses.create({ url, sources: [source.id], body })
  expect(address.body).toEqual(body)
  const { id } = await submit(source.id, `"}, {"`)
  await until((all) => all.length === 1)
  const [first] = received
  expect(first).toMatchObject({ method: "PUT", type: "event.received" })
  expect(first!.headers["content-type"]).toBe("application/vnd.api+json")
  expect(String(first!.body)).toBe(`{"customer": "\\"}, {\\"", "sum": ${TOTAL}}`)
  expect(verifyDelivery(first!.body, first!.signature, address.secret)).toBe(true)

  /** One that is in flight is not sent again: it is until its attempt is recorded, which is after its response. */
  const recorded = (count: number) =>
    expect.poll(async () => (await cabinet.addresses.log(address.id)).length).toBe(count)
  await recorded(1)
  await cabinet.addresses.change(address.id, { body: { kind: "template", template: `["{{id}}"]` } })
  await cabinet.addresses.resend(first!.deliveryId)
  await until((all) => all.length === 2)
  expect(received[1]).toMatchObject({ method: "POST", deliveryId: first!.deliveryId })
  expect(String(received[1]!.body)).toBe(`[${id}]`)

  await recorded(2)
  await cabinet.addresses.change(address.id, { body: { kind: "standard" } })
  expect((await cabinet.addresses.get(address.id)).body.kind).toBe("standard")
  await cabinet.addresses.resend(first!.deliveryId)
  await until((all) => all.length === 3)
  expect(String(received[2]!.body)).toContain(`"type":"event.received"`)
})

it("an address in order sends each kind of batch that its body has", async () => {
  const source = await cabinet.sources.create({ name: "Batches" })
  const { url, received, until } = await receiver()
  const body = { kind: "template", template: `{"n": "{{payload.name}}"}` } as const
  const address = await cabinet.addresses.create({
    url,
    sources: [source.id],
    order: "feed",
    batch: { max: 10, wait: 0 },
    body,
  })
  await cabinet.addresses.pause(address.id)
  for (const name of ["a", "b", "c"]) await submit(source.id, name)
  await cabinet.addresses.resume(address.id)
  await until((all) =>
    all
      .map(({ body: sent }) => String(sent))
      .join("")
      .includes('"c"'),
  )
  expect(received.flatMap(({ body: sent }) => JSON.parse(String(sent)) as ReadonlyArray<unknown>)).toEqual([
    { n: "a" },
    { n: "b" },
    { n: "c" },
  ])
  for (const one of received) {
    expect(one.type).toBe("events.received")
    expect(verifyDelivery(one.body, one.signature, address.secret)).toBe(true)
  }
  const refused = cabinet.addresses.change(address.id, { body: { kind: "slack" } })
  await expect(refused).rejects.toMatchObject({ code: "bad_template" })
  await cabinet.addresses.change(address.id, { order: "none", body: { kind: "slack" } })
  const batched = cabinet.addresses.change(address.id, { order: "feed", batch: { max: 2, wait: 0 } })
  await expect(batched).rejects.toMatchObject({ code: "bad_template" })
})

it("ping sends the body of the address, of the newest event that its sources have", async () => {
  const source = await cabinet.sources.create({ name: "Leads" })
  const { url, received } = await receiver()
  const { id } = await cabinet.addresses.create({ url, sources: [source.id], body: { kind: "slack" } })
  expect(await cabinet.addresses.ping(id)).toMatchObject({ delivered: true })
  expect(String(received[0]!.body)).toContain("A test of Data Cabinet")
  await cabinet.addresses.pause(id)
  await submit(source.id, "Ada")
  await submit((await cabinet.sources.create({ name: "Others" })).id, "Bob")
  expect(await cabinet.addresses.ping(id)).toMatchObject({ delivered: true })
  expect(received[1]).toMatchObject({ type: "ping" })
  expect(String(received[1]!.body)).toContain("*name:* Ada")

  const all = await cabinet.addresses.create({ url, body: { kind: "form" } })
  await cabinet.addresses.ping(all.id)
  expect(String(received[2]!.body)).toBe(`name=Bob&total=${TOTAL}`)
  await cabinet.addresses.remove(all.id)
})

it("preview writes a body and sends nothing, with the headers of no secret", async () => {
  const source = await cabinet.sources.create({ name: "Previewed" })
  const { url, received } = await receiver()
  const headers = [["Authorization", "Bearer hush-hush"]] as const
  const { id } = await cabinet.addresses.create({ url, sources: [source.id], headers })
  const { id: eventId } = await submit(source.id, "Ada")
  await submit(source.id, "Grace")
  const template = `{"who": "{{payload.name}}", "sum": "{{payload.total}}"}`
  const preview = await cabinet.addresses.preview(id, { eventId, body: { kind: "template", template } })
  expect(preview).toMatchObject({
    eventId,
    template,
    method: "POST",
    headers: [{ name: "Content-Type", value: "application/json" }],
    body: `{"who": "Ada", "sum": ${TOTAL}}`,
  })
  expect(preview.event).toContain(`"total":${TOTAL}`)
  expect(JSON.stringify(preview)).not.toContain("hush-hush")
  expect(await cabinet.addresses.preview(id)).toMatchObject({
    template: null,
    body: expect.stringContaining(`"name":"Grace"`) as string,
  })
  await expect(cabinet.addresses.preview(id, { eventId: 999_999 })).rejects.toMatchObject({ code: "no_such_event" })
  const wrong = cabinet.addresses.preview(id, { body: { kind: "template", template: `{"a": "{{paylod}}"}` } })
  await expect(wrong).rejects.toMatchObject({ code: "bad_template", message: /at line 1, column 8/ })
  expect(received.filter(({ type }) => type === "ping")).toEqual([])
})

it("a header of the address never replaces one that describes its body", async () => {
  const source = await cabinet.sources.create({ name: "Clouds" })
  const { url, received, until } = await receiver()
  const headers = [
    ["CE-ID", "mine"],
    ["X-Own", "kept"],
  ] as const
  const body = { kind: "cloudevents-binary" } as const
  await cabinet.addresses.create({ url, sources: [source.id], headers, body })
  const { id } = await submit(source.id, "Ada")
  await until((all) => all.length === 1)
  expect(received[0]!.headers).toMatchObject({ "ce-id": String(id), "ce-specversion": "1.0", "x-own": "kept" })
  expect(String(received[0]!.body)).toBe(`{"name":"Ada","total":${TOTAL}}`)
})
