import { afterAll, assert, beforeAll, describe, expect, it } from "vitest"
import { type ApiName, crossOrigin } from "@data-cabinet/http-node/server/CrossOrigin"
import type { Request } from "@data-cabinet/http-node/server/Request"
import { type ApiServer, KEY, serveApi } from "../support/apiServer.ts"

const SHOP = "https://shop.example.com"
const OTHERS = ["https://evil.example", "https://shop.example.com.evil.example", "http://shop.example.com", "null", "*"]

const PREFLIGHT = { "access-control-request-method": "GET", "access-control-request-headers": "authorization" }

describe("the read API for pages of other origins", () => {
  let open: ApiServer
  let closed: ApiServer
  beforeAll(async () => {
    open = await serveApi({ apiOrigins: ["http://localhost:3000", SHOP] })
    closed = await serveApi()
  })
  afterAll(async () => {
    await open.close()
    await closed.close()
  })

  const corsOf = ({ headers }: { readonly headers: Headers }) =>
    [...headers.keys()].filter((name) => name.startsWith("access-control"))

  it("responds to the preflight of an allowed origin without requiring or counting a key", async () => {
    const { status, headers, text } = await open.ask("/api/v1/sources", {
      method: "OPTIONS",
      headers: { ...PREFLIGHT, origin: SHOP, authorization: "" },
    })
    expect([status, text]).toEqual([204, ""])
    expect(headers.get("access-control-allow-origin")).toBe(SHOP)
    expect(headers.get("access-control-allow-methods")).toBe("GET, HEAD")
    const preflight = { method: "OPTIONS", headers: { ...PREFLIGHT, origin: SHOP, authorization: "" } }
    const ofAck = await open.ask("/api/v1/events/ack", preflight)
    expect(ofAck.headers.get("access-control-allow-methods")).toBe("POST")
    expect(headers.get("access-control-allow-headers")).toContain("Authorization")
    expect(headers.get("access-control-allow-credentials")).toBe(null)
    expect(headers.get("x-ratelimit-limit")).toBe(null)
  })

  it.each(["/api/v1/sources", "/api/v1/sources/999", "/api/v1/nothing", "/api/v1/openapi.json"])(
    "lets an allowed origin read %s, including errors, with the headers that a client needs",
    async (path) => {
      const { headers } = await open.ask(path, { headers: { origin: SHOP } })
      expect(headers.get("access-control-allow-origin")).toBe(SHOP)
      expect(headers.get("access-control-expose-headers")).toContain("Retry-After")
      expect(headers.get("access-control-allow-credentials")).toBe(null)
      expect(headers.get("vary")).toMatch(/\bOrigin$/)
    },
  )

  it("lets it read why its key is refused", async () => {
    const { status, headers } = await open.ask("/api/v1/sources", { headers: { origin: SHOP, authorization: "" } })
    expect([status, headers.get("access-control-allow-origin")]).toEqual([401, SHOP])
  })

  it.each(OTHERS)("sends no headers to %s", async (origin) => {
    const read = await open.ask("/api/v1/sources", { headers: { origin } })
    expect([read.status, corsOf(read)]).toEqual([200, []])
    // A cache must not serve it to an allowed origin.
    expect(read.headers.get("vary")).toBe("Origin")
    const asked = await open.ask("/api/v1/sources", { method: "OPTIONS", headers: { ...PREFLIGHT, origin } })
    expect([asked.status, corsOf(asked)]).toEqual([405, []])
  })

  it("treats an OPTIONS that is no preflight as a method that is not allowed", async () => {
    const { status } = await open.ask("/api/v1/sources", { method: "OPTIONS", headers: { origin: SHOP } })
    expect(status).toBe(405)
  })

  it("leaves other paths alone", async () => {
    for (const path of ["/healthz", "/", "/nowhere"]) {
      const response = await open.ask(path, { headers: { origin: SHOP } })
      expect([path, corsOf(response)]).toEqual([path, []])
    }
  })

  it("changes nothing if no origin is allowed", async () => {
    for (const init of [{}, { method: "OPTIONS", headers: PREFLIGHT }]) {
      const [mine, plain] = [
        await closed.ask("/api/v1/sources", { ...init, headers: { ...init.headers, origin: SHOP } }),
        await closed.ask("/api/v1/sources", init),
      ]
      const names = (response: { readonly headers: Headers }) => [...response.headers.keys()].sort()
      expect([mine.status, mine.text, names(mine)]).toEqual([plain.status, plain.text, names(plain)])
      expect(names(mine)).not.toContain("vary")
    }
  })
})

const asked = async (api: ApiName, method: string, headers: Request["headers"], vary?: string) => {
  const request = { method, headers } as Request
  const { headers: sent } = await crossOrigin([SHOP])(api, request, async () => ({
    status: 200,
    headers: vary === undefined ? {} : { vary },
    body: "",
  }))
  return sent
}

it("lets pages of other origins use the management API only with a token", async () => {
  const bearer = { authorization: `Bearer ${KEY}` }
  assert.strictEqual(
    (await asked("management", "GET", { origin: SHOP, ...bearer }))["access-control-allow-origin"],
    SHOP,
  )
  for (const headers of [{ cookie: "cabinet=dcs_x" }, { "remote-user": "ada" }, {}]) {
    const without = await asked("management", "GET", { origin: SHOP, ...headers })
    expect(without).toEqual({ vary: "Origin" })
  }
  const preflight = await asked("management", "OPTIONS", { origin: SHOP, ...PREFLIGHT })
  expect(preflight["access-control-allow-methods"]).toBe("GET, HEAD, POST, PUT, PATCH, DELETE")
  expect(preflight["access-control-allow-headers"]).toContain("Idempotency-Key")
})

it("adds Origin to an existing Vary header", async () => {
  expect((await asked("read", "GET", { origin: SHOP }, "Accept"))["vary"]).toBe("Accept, Origin")
})
