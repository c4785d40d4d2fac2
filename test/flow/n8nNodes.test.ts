/**
 * The nodes for n8n against a real server: what the actions send and read, and that a trigger skips nothing and repeats little
 * however n8n ends. `.ci/n8n` fetches n8n's part. n8n itself is a trial.
 */
import { AccessTokens } from "@data-cabinet/core/key/AccessTokens"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type ApiCabinet, apiCabinet } from "../support/apiCabinet.ts"
import { compiledNodes, hasN8n, type Instance, type Item, n8n } from "../support/n8nNodes.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: ApiCabinet
let nodes: ReturnType<typeof compiledNodes>
let key: string
let token: string
let orders: { readonly id: number; readonly intakeSecret: string }

beforeAll(async () => {
  if (!hasN8n) {
    console.log("There is nothing of n8n here: fetch it with .ci/n8n")
    return
  }
  nodes = compiledNodes()
  cabinet = await apiCabinet(database.url)
  key = await cabinet.key()
  const issued = { name: "n8n", role: "viewer", expiresInSeconds: null } as const
  ;({ token } = await cabinet.run(AccessTokens.use((tokens) => tokens.issue(issued))))
  orders = await cabinet.source("Orders")
})
afterAll(async () => {
  nodes?.remove()
  await cabinet?.close()
})

const credentials = (apiKey = token) => ({ baseUrl: `${cabinet.base}/`, apiKey })

const act = async (parameters: Readonly<Record<string, unknown>>, more: Partial<Parameters<typeof n8n>[0]> = {}) => {
  const instance = n8n({ credentials: credentials(), parameters: { filters: {}, options: {}, ...parameters }, ...more })
  const [items] = await nodes.execute.call(instance.context)
  return items!
}

const intakeUrl = () => `${cabinet.base}/webhook/${orders.intakeSecret}`

const send = (payload: object) => cabinet.send(orders.intakeSecret, JSON.stringify(payload))

describe.runIf(hasN8n)("the actions", () => {
  it("send an item or a JSON text, which arrives to the last digit", async () => {
    const sending = { resource: "event", operation: "send", intakeUrl: intakeUrl() }
    const items: ReadonlyArray<Item> = [{ json: { n: 1 } }, { json: { n: 1 } }]
    expect(await act({ ...sending, content: "item" }, { items })).toMatchObject([
      { json: { ok: true, duplicate: false }, pairedItem: { item: 0 } },
      { json: { ok: true, duplicate: true }, pairedItem: { item: 1 } },
    ])
    const [sent] = await act({ ...sending, content: "json", json: '{"n":12345678901234567890,"part":0.10}' })
    const [read] = await act({ resource: "event", operation: "get", eventId: String(sent!.json.id) })
    expect(read!.json.event.payload).toEqual({ n: "12345678901234567890", part: 0.1 })
  })

  it("read rows of all pages by filters, and export the same as a file", async () => {
    await Promise.all(Array.from({ length: 30 }, (_, n) => send({ n: 100 + n, name: `Ada\n"${n}"` })))
    // A row whose table could not get its column in time is written a moment later.
    await expect.poll(() => database.run("SELECT FROM cabinet.deferred_row LIMIT 1")).toEqual([])
    const many = { resource: "row", table: "sources.orders", operation: "getAll", returnAll: true }
    const filters = {
      filter: [
        { column: "name", condition: "contains", value: "ada" },
        { column: "n", condition: "eq", value: "1" },
        { column: "name", condition: "empty", value: "left over" },
      ],
    }
    const both = await act({ ...many, filters, options: { match: "or" } })
    expect(both).toHaveLength(32)
    expect(await act({ ...many, filters })).toHaveLength(0)
    const sorted = { sort: "n", direction: "desc", columns: "n, name", search: "ada" }
    const found = await act({ ...many, returnAll: false, limit: 2, options: sorted })
    expect(found.map(({ json }) => json)).toEqual([
      { n: 129, name: 'Ada\n"29"' },
      { n: 128, name: 'Ada\n"28"' },
    ])
    const file = async (format: string, options = {}) => {
      const whole = { ...many, operation: "export", binaryProperty: "file", format, filters, options }
      const [one] = await act(whole)
      return Buffer.from(one!.binary!["file"]!.data, "base64").toString()
    }
    const lines = (await file("ndjson", { match: "or" })).trimEnd().split("\n")
    expect(lines.map((line) => JSON.parse(line))).toHaveLength(32)
    expect(await file("csv", { match: "or", columns: "n" })).toMatch(/^n\r\n(?:\d+\r\n){32}$/)
  })

  it("say what the cabinet refused, or carry on with it", async () => {
    const missing = { resource: "row", table: "sources.nothing", operation: "getAll", returnAll: true }
    await expect(act(missing)).rejects.toThrow(/Data Cabinet: .*no readable table/i)
    const [kept] = await act(missing, { continueOnFail: true })
    expect(kept!.json.error).toMatch(/Data Cabinet/)
    const single = { resource: "event", operation: "get", eventId: "1" }
    await expect(act(single, { credentials: credentials(key) })).rejects.toThrow(/access token with the role viewer/)
    const elsewhere = { resource: "event", operation: "send", intakeUrl: "orders", content: "item" }
    await expect(act(elsewhere)).rejects.toThrow(/must be a URL/)
  })

  it("list sources and tables, and test the credential by a request that a wrong key fails", async () => {
    const { context } = n8n({ credentials: credentials(key), parameters: {} })
    expect(await nodes.loadOptions["getTables"]!.call(context)).toContainEqual({
      name: "sources.orders",
      value: "sources.orders",
    })
    expect(await nodes.loadOptions["getSources"]!.call(context)).toContainEqual({
      name: "Orders",
      value: `${orders.id}`,
    })
    expect(nodes.credential.test.request).toMatchObject({ url: "/api/v1/sources" })
    const { context: wrong } = n8n({ credentials: credentials("wrong"), parameters: {} })
    await expect(nodes.loadOptions["getSources"]!.call(wrong)).rejects.toThrow(/Data Cabinet: /)
  })
})

/** The numbers that a trigger's executions got. */
const numbers = (...instances: ReadonlyArray<Instance>) =>
  instances.flatMap(({ executions }) => executions.flat().map(({ json }) => json.payload.n as number))

/** Those of all events, in the feed's order. */
const allNumbers = async () => {
  const rows = await database.run("SELECT payload->>'n' AS n FROM cabinet.event ORDER BY event.id")
  return [...new Set(rows.map(({ n }) => String(n)))]
}

describe.runIf(hasN8n)("the trigger", () => {
  const started = async (more: Partial<Parameters<typeof n8n>[0]> = {}) => {
    const parameters = { mode: "live", source: `${orders.id}`, channel: "", start: "now", options: { size: 10 } }
    const instance = n8n({ credentials: credentials(), ...more, parameters: { ...parameters, ...more.parameters } })
    const trigger = await nodes.trigger.call(instance.context)
    instance.activate()
    return { instance, trigger }
  }

  it.each(["live", "minute"])("gives new events, %s, and continues after a restart where it was", async (mode) => {
    const parameters = { mode, channel: mode === "live" ? "" : "webhook" }
    const first = await started({ parameters })
    // Once a minute begins with what is there.
    if (mode === "minute") await first.trigger.closeFunction!()
    await send({ n: `${mode} 1` })
    const again = mode === "minute" ? await started({ parameters, stored: first.instance.stored }) : first
    await again.instance.ran(1)
    if (mode === "live") {
      // The second acknowledgement is due five seconds later, or when the workflow ends.
      await send({ n: "live too" })
      await again.instance.ran(2)
    }
    await again.trigger.closeFunction!()
    await send({ n: `${mode} 2` })
    // n8n stored the position before the execution; the cabinet knows the one after it.
    const next = await started({ parameters, stored: mode === "minute" ? again.instance.stored : {} })
    await next.instance.ran(1)
    await next.trigger.closeFunction!()
    const between = mode === "live" ? ["live too"] : []
    expect(numbers(again.instance, next.instance)).toEqual([`${mode} 1`, ...between, `${mode} 2`])
  })

  it("skips nothing and repeats at most what it interrupted, however often n8n is killed", async () => {
    const parameters = { start: "beginning", source: "", options: { size: 3, include: ["repeats"] } }
    const instances: Array<Instance> = []
    let stored = {}
    const sending = (async () => {
      for (let n = 1; n <= 60; n++) await send({ n: 1_000 + n })
    })()
    for (let kill = 0; kill < 6; kill++) {
      const { instance, trigger } = await started({ parameters, stored })
      instances.push(instance)
      await instance.ran(2 + kill)
      instance.kill()
      // n8n loses its data now and then, such as by an import of the workflow. The cabinet has the position as well.
      stored = kill % 2 === 0 ? instance.stored : {}
      // The test's own process stays, so what a kill would end ends here; nothing of it reaches the cabinet.
      await trigger.closeFunction!()
    }
    await sending
    const { instance, trigger } = await started({ parameters, stored })
    await expect.poll(() => numbers(instance).includes(1_060)).toBe(true)
    await trigger.closeFunction!()
    const got = numbers(...instances, instance)
    const all = await allNumbers()
    // Each kill repeats the execution that it interrupted, and what ended within the five seconds before.
    expect(got.length - all.length).toBeLessThanOrEqual(3 * instances.flatMap(({ executions }) => executions).length)
    expect([...new Set(got.map(String))]).toEqual(all)
  })

  it("shows the newest event by hand, with a token and with a key, and moves nothing", async () => {
    await send({ n: "newest" })
    for (const apiKey of [token, key]) {
      const { instance, trigger } = await started({ credentials: credentials(apiKey), mode: "manual" })
      await trigger.manualTriggerFunction!()
      await instance.ran(1)
      expect(numbers(instance)).toEqual(["newest"])
    }
  })

  it("leaves out what deliveries leave out, unless it is included", async () => {
    const one = { n: "twice" }
    await send(one)
    expect(await send(one)).toMatchObject({ duplicate: true })
    await send({ n: "last" })
    const given = async (include: ReadonlyArray<string>) => {
      const parameters = { start: "beginning", options: { include }, channel: include.length === 0 ? "" : "webhook" }
      const { instance, trigger } = await started({ parameters })
      await expect.poll(() => numbers(instance).includes("last" as never)).toBe(true)
      await trigger.closeFunction!()
      return numbers(instance).filter((n) => String(n) === "twice").length
    }
    expect([await given([]), await given(["repeats"])]).toEqual([1, 2])
  })

  it("does not start with a wrong key", async () => {
    await expect(started({ credentials: credentials("wrong") })).rejects.toThrow(/Data Cabinet: /)
  })
})
