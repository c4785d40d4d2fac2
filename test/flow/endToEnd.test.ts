/**
 * The main job on real input, with no part replaced: a server process on an empty data directory gets a form and a JSON
 * document, the printed key reads row and feed, and a subscriber gets the signed delivery.
 */
import { verifyDelivery } from "data-cabinet"
import { afterAll, beforeAll, expect, it } from "vitest"
import { askedMetrics, printed, testedShapes } from "../support/integrationFiles.ts"
import { endAll, type Home, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { type Receiver, startReceiver } from "../support/receiver.ts"

const LOOPBACK = { CABINET_ALLOWED_NETWORKS: "127.0.0.0/8" }

let home: Home
let server: ServerProcess
let receiver: Receiver

beforeAll(async () => {
  home = newHome()
  receiver = await startReceiver()
  server = await home.serve([], LOOPBACK)
})
afterAll(async () => {
  await endAll()
  await receiver.close()
})

const read = async (path: string) => {
  const headers = { authorization: `Bearer ${server.welcome.key!.key}` }
  const response = await fetch(`${server.baseUrl}${path}`, { headers })
  return { status: response.status, text: await response.text() }
}

it("a form and a JSON document become events, rows and signed deliveries", async () => {
  const added = await home.cabinet(["address", "add", receiver.url, "--json"], LOOPBACK)
  expect(added).toMatchObject({ code: 0, stderr: "" })
  const address = JSON.parse(added.stdout) as { id: number; secret: string }

  const intake = server.welcome.source!.intake_url
  const form = await fetch(intake, {
    method: "POST",
    body: new URLSearchParams([
      ["name", "Ада"],
      ["tags[]", "a"],
      ["tags[]", "b"],
    ]),
  })
  const formResponse = (await form.json()) as { id: number }
  expect([form.status, formResponse]).toEqual([
    200,
    { ok: true, id: expect.any(Number), duplicate: false, empty: false },
  ])
  const json = `{"total": 12.50, "name": "Grace", "big": 12345678901234567890}`
  const document = await fetch(intake, { method: "POST", headers: { "content-type": "application/json" }, body: json })
  const jsonResponse = (await document.json()) as { id: number }
  expect(document.status).toBe(200)
  const ids = [formResponse.id, jsonResponse.id]

  const rows = await read("/api/v1/tables/sources/first_source/rows")
  expect(rows.status).toBe(200)
  // The digits are as sent.
  expect(rows.text).toContain(`"total":12.50,"big":12345678901234567890`)
  const { data } = JSON.parse(rows.text) as { data: ReadonlyArray<{ _event_id: number; name: string }> }
  expect(data.map((row) => [row._event_id, row.name])).toEqual([
    [jsonResponse.id, "Grace"],
    [formResponse.id, "Ада"],
  ])

  const feed = await read("/api/v1/events")
  const events = (JSON.parse(feed.text) as { data: ReadonlyArray<{ id: number }> }).data
  expect(events.map(({ id }) => id)).toEqual(ids)
  expect(feed.text).toContain(`"payload":{"total":12.50,"name":"Grace","big":12345678901234567890}`)

  await receiver.until((received) => received.length >= 2)
  const bodies = receiver.received.map(({ body, signature, type }) => {
    expect(verifyDelivery(body, signature, address.secret)).toBe(true)
    expect(type).toBe("event.received")
    return JSON.parse(body.toString()) as { data: { id: number } }
  })
  expect(bodies.map(({ data: event }) => event.id).sort((a, b) => a - b)).toEqual(ids)
  // The feed and the delivery have the same event text.
  const delivered = receiver.received.find(({ body }) => body.includes("12345678901234567890"))!.body.toString()
  expect(feed.text).toContain(delivered.slice(delivered.indexOf(`"data":`) + 7, -1))
})

it("commands beside the server see the same data, and show the address's log", async () => {
  // An attempt is recorded after its response.
  const attempts = async () => {
    const { stdout } = await home.cabinet(["address", "log", "1", "--json"])
    const all = JSON.parse(stdout) as ReadonlyArray<{ delivered: boolean; status: number }>
    return all.map(({ delivered, status }) => [delivered, status])
  }
  await expect.poll(attempts).toEqual([
    [true, 204],
    [true, 204],
  ])
  const detail = await home.cabinet(["event", "show", "1", "--json"])
  expect(JSON.parse(detail.stdout)).toMatchObject({
    event: { id: 1 },
    original: { content_type: "application/x-www-form-urlencoded;charset=UTF-8", encoding: { name: "utf-8" } },
    row: { _event_id: 1, name: "Ада" },
    deliveries: [{ state: "delivered", event_id: 1 }],
  })
  const shown = await home.cabinet(["source", "show", "1", "--json"])
  expect(JSON.parse(shown.stdout)).toMatchObject({ intake_url: server.welcome.source!.intake_url })
})

it("the metrics have everything that the alerts and the dashboard of integrations/ ask for", async () => {
  // The background measures some of them for the first time after the start.
  const missing = async () => {
    const { names, shapes } = printed(await (await fetch(`${server.baseUrl}/metrics`)).text())
    return [...askedMetrics.filter((name) => !names.has(name)), ...testedShapes.filter((shape) => !shapes.has(shape))]
  }
  await expect.poll(missing).toEqual([])
})

it("a second server on the data directory is refused with a message, and a stop leaves everything for the next start", async () => {
  const second = await home.cabinet(["serve", "--port", "0"])
  expect(second.code).toBe(1)
  expect(second.stdout).toBe("")
  expect(second.stderr).toMatch(/already serves .*Stop it/)

  expect(await server.stop("SIGTERM")).toBe(0)
  expect(server.log()).not.toContain(server.welcome.source!.intake_path.slice("/webhook/".length))
  const { key } = server.welcome
  server = await home.serve([], LOOPBACK)
  expect(server.welcome).toMatchObject({ source: null, key: null })
  const response = await fetch(`${server.baseUrl}/api/v1/events`, { headers: { "x-api-key": key!.key } })
  expect(((await response.json()) as { data: Array<unknown> }).data).toHaveLength(2)
  expect(await server.stop("SIGINT")).toBe(0)
})
