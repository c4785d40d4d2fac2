import { NO_PROXIES } from "@data-cabinet/http-node/server/ClientAddress"
import type { Request } from "@data-cabinet/http-node/server/Request"
import { rootRoute } from "@data-cabinet/http-node/routes/RootRoute"
import { assert, it } from "vitest"

const settings = { baseUrl: "https://shop.example.com/data", docsUrl: null, trustedProxies: NO_PROXIES }
const HTML = "text/html,application/xhtml+xml;q=0.9"

const locationFor = async (accept: string | undefined, hasConsole: boolean): Promise<string | undefined> => {
  const request = { method: "GET", headers: { accept } } as unknown as Request
  const { status, headers } = await rootRoute(settings, hasConsole).handle(request, { params: [], query: "" })
  assert.strictEqual(status, 302)
  assert.strictEqual(headers["vary"], "Accept")
  return headers["location"]
}

it("the base address redirects a browser to the console, and other clients to the description", async () => {
  assert.strictEqual(await locationFor(HTML, true), "/data/console/")
  for (const accept of [undefined, "*/*", "application/json"]) {
    assert.strictEqual(await locationFor(accept, true), "https://shop.example.com/data/reference")
  }
})

it("the base address redirects a browser to the description if there is no console", async () => {
  assert.strictEqual(await locationFor(HTML, false), "https://shop.example.com/data/reference")
})
