/** The client for programs on a page of another origin, in its window and in a worker, where the cabinet names that origin. */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { signDelivery } from "@data-cabinet/core/delivery/Signature"
import { type Cabinet, openCabinet } from "data-cabinet"
import { rolldown } from "rolldown"
import { afterAll, assert, beforeAll, it } from "vitest"
import type * as Program from "../support/clientProgram.ts"
import { type ClientTask, WELL } from "../support/clientProgram.ts"
import { withDatabase } from "../support/postgres.ts"
import { type Chromium, startChromium } from "./support/chromium.ts"
import { type Site, startSite } from "./support/site.ts"

const PROGRAM = fileURLToPath(new URL("../support/clientProgram.ts", import.meta.url))

const database = withDatabase()
let server: Server
let cabinet: Cabinet
let named: Site
let other: Site
let chromium: Chromium
let task: ClientTask

const PAGE = `<!doctype html><title>A shop</title>
<script type=module>import { useClient } from "/program.js"; globalThis.useClient = useClient</script>`

const WORKER = `import { useClient } from "/program.js"
onmessage = async ({ data }) => postMessage(await useClient(data))`

beforeAll(async () => {
  named = await startSite()
  other = await startSite()
  const bundle = await rolldown({
    input: PROGRAM,
    platform: "neutral",
    resolve: { conditionNames: ["source", "import"] },
  })
  const { output } = await bundle.generate({ format: "esm" })
  await bundle.close()
  for (const site of [named, other]) {
    site.put("/", PAGE)
    site.put("/program.js", output[0].code, { "content-type": "text/javascript" })
    site.put("/worker.js", WORKER, { "content-type": "text/javascript" })
  }
  const opened = Promise.withResolvers<Cabinet>()
  server = createServer((request, response) => void opened.promise.then((open) => open.nodeHandler(request, response)))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  cabinet = await openCabinet({ databaseUrl: database.url, baseUrl, delivery: false, apiOrigins: [named.origin] })
  opened.resolve(cabinet)
  const source = await cabinet.sources.create({ name: "Orders" })
  const body = '{"digits":1234567890123456789012345,"who":"Eve"}'
  await fetch(source.intakeUrl, { method: "POST", headers: { "content-type": "application/json" }, body })
  const { key } = await cabinet.keys.create({ name: "shop" })
  const { token } = await cabinet.tokens.create({ name: "shop", role: "owner" })
  const signed = { body: '{"n":0.10}', secret: "a secret" }
  const header = signDelivery(Buffer.from(signed.body), [signed.secret], Math.floor(Date.now() / 1000))
  task = {
    baseUrl,
    key,
    token,
    intakeUrl: source.intakeUrl,
    table: [source.table!.schema, source.table!.name],
    delivery: { ...signed, header },
  }
  chromium = await startChromium()
})
afterAll(async () => {
  await chromium.close()
  server.close()
  server.closeAllConnections()
  await cabinet.close()
  await named.close()
  await other.close()
})

const inWindow = async (site: Site) => {
  const { page } = await chromium.visit()
  await page.goto(`${site.origin}/`)
  return page.evaluate((given) => (globalThis as unknown as typeof Program).useClient(given), task)
}

const inWorker = async (site: Site) => {
  const { page } = await chromium.visit()
  await page.goto(`${site.origin}/`)
  return page.evaluate(
    (given) =>
      new Promise<ReadonlyArray<string>>((resolve, reject) => {
        const worker = new Worker("/worker.js", { type: "module" })
        worker.addEventListener("message", ({ data }) => resolve(data as ReadonlyArray<string>))
        worker.addEventListener("error", ({ message }) => reject(new Error(message)))
        worker.postMessage(given, [])
      }),
    task,
  )
}

it("a page of a named origin sends, reads, follows, manages and verifies", async () => {
  assert.deepStrictEqual(await inWindow(named), WELL)
})

it("a worker of a named origin sends, reads, follows, manages and verifies as well", async () => {
  // The same body again is a repeat.
  assert.deepStrictEqual(await inWorker(named), WELL.with(0, "sent number true"))
})

it("a page of another origin with the same key can send, as any page can, and reads nothing", async () => {
  assert.deepStrictEqual(await inWindow(other), ["sent number true", "unreachable null"])
})
