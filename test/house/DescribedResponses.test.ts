/**
 * The check of all API responses that runs in every test file sees each response, and reports one that differs from the
 * description.
 */
import { createServer, get, request } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, assert, beforeAll, it } from "vitest"
import { takeFailures } from "../support/describedResponses.ts"

const GOOD = { data: [], has_more: false, next_cursor: null }

const server = createServer((asked, answer) => {
  const good = asked.url?.includes("good") === true
  const end = asked.url?.includes("endless") === true ? "" : "\n"
  answer.setHeader("x-ratelimit-limit", "120").setHeader("x-ratelimit-remaining", "119")
  answer.setHeader("content-type", "application/json")
  if (asked.method === "HEAD") answer.end()
  else answer.end(JSON.stringify(good ? GOOD : { ...GOOD, more: "than described" }) + end)
})
let base = ""
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

/** Sends a request in every way that tests do. */
const askAll = async (path: string) => {
  await (await fetch(base + path)).text()
  await (await fetch(new Request(base + path))).json()
  await new Promise((resolve) => get(base + path, (answer) => answer.resume().once("end", resolve)))
  await new Promise((resolve) => {
    const asking = request(new URL(path, base), (answer) => void answer.toArray().then(resolve))
    asking.end()
  })
  await new Promise((resolve) =>
    request(base + path)
      .once("close", resolve)
      .end(),
  )
}

it("reports a wrong response, however it was requested, and wherever the cabinet is mounted", async () => {
  await askAll("/api/v1/sources")
  const wrong = await takeFailures()
  assert.deepEqual(
    wrong.map((failure) => /^GET \/api\/v1\/sources -> 200: .*additional properties/.test((failure as Error).message)),
    [true, true, true, true, true],
  )
  await askAll("/mounted/here/api/v1/sources")
  assert.lengthOf(await takeFailures(), 5)
})

it("reports a body whose last line has no end", async () => {
  await (await fetch(`${base}/api/v1/sources?good&endless`)).text()
  const [wrong] = await takeFailures()
  assert.match((wrong as Error).message, /^GET \/api\/v1\/sources -> 200: a body whose last line has no end/)
})

it("accepts responses as described, and those that are not a cabinet's", async () => {
  await askAll("/api/v1/sources?good")
  await fetch(`${base}/api/v1/sources`, { method: "HEAD" })
  await askAll("/elsewhere")
  assert.deepEqual(await takeFailures(), [])
})
