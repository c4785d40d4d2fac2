/**
 * Pages of another origin against the console and the management API, in a Chromium in which an owner is signed in. The
 * other origin is another port of the same address. To a browser that is the same site, so it sends the session cookie,
 * and only the cabinet's own check refuses the request.
 */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import type { Page } from "playwright-core"
import { afterAll, assert, beforeAll, it } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { type Chromium, startChromium } from "./support/chromium.ts"
import { type ConsoleCabinet, consoleCabinet } from "./support/consoleCabinet.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let chromium: Chromium
let hostile: Server
let elsewhere: string
let headers: Readonly<Record<string, string>>

beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 1)
  headers = await cabinet.as("owner")
  await cabinet.cabinet.addresses.create({ url: `${cabinet.base}/hook`, sources: "all" })
  hostile = createServer((request, response) => {
    // A redirect that keeps the method and the body.
    if (request.url!.startsWith("/on?")) {
      const location = decodeURIComponent(request.url!.slice(4))
      response.writeHead(307, { location, "access-control-allow-origin": "*" }).end()
      return
    }
    response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>Elsewhere</title><body>")
  })
  await new Promise<void>((resolve) => hostile.listen(0, "127.0.0.1", resolve))
  elsewhere = `http://127.0.0.1:${(hostile.address() as AddressInfo).port}`
  chromium = await startChromium()
}, 120_000)
afterAll(async () => {
  await chromium.close()
  hostile.close()
  hostile.closeAllConnections()
  await cabinet.close()
})

const manage = async (method: string, path: string, body?: unknown) => {
  const response = await fetch(`${cabinet.base}/manage/v1/${path}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return (await response.json()) as any
}

/** The state that a request could have changed, without the times of last use. */
const state = async () => {
  const lists = ["keys", "tokens", "sources", "people", "sessions", "addresses", "deliveries", "polls"]
  const all = await Promise.all(lists.map((list) => manage("GET", list)))
  const acts = await manage("GET", "audit?limit=1000")
  return JSON.stringify([...all, acts], (name, value) => (name.startsWith("last_") ? undefined : value))
}

interface Sent {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly cookie: boolean
}

/** An owner who is signed in by a link, and the requests to the cabinet from then on. */
const signedIn = async (name: string) => {
  const { link } = await manage("POST", "people", { name, role: "owner" })
  const { page } = await chromium.visit({ locale: "en-US" })
  await Promise.all([page.waitForURL(/\/console\/(?!welcome)/), page.goto(link as string)])
  const sent: Array<Sent> = []
  cabinet.server.on("request", ({ method, url, headers: { cookie = "" } }, response) => {
    response.on("close", () => {
      sent.push({ method: method!, path: url!, status: response.statusCode, cookie: cookie.includes("cabinet=dcs_") })
    })
  })
  return { page, sent }
}

const FORMS: ReadonlyArray<readonly [path: string, fields: Readonly<Record<string, string>>]> = [
  ["/console/keys", { name: "forged" }],
  ["/console/sources", { name: "forged" }],
  ["/console/people", { name: "forged", role: "owner" }],
  ["/console/tokens", { name: "forged", role: "owner", expires: "" }],
  ["/console/addresses", { url: "http://127.0.0.1:9/", sources: "all" }],
  ["/console/addresses/1/remove", {}],
  ["/console/sources/1/reveal", {}],
  ["/console/me", { language: "ru" }],
  ["/console/password", { password: "violet kettle 47 orbit", current: "" }],
  ["/console/sign-out", { everywhere: "yes" }],
  ["/manage/v1/keys", { '{"name":"forged","x":"': '"}' }],
  ["/manage/v1/me/sign-out", {}],
]

/** A form in a page's markup, submitted into a frame or the window. */
const submit = (
  page: Page,
  action: string,
  fields: Readonly<Record<string, string>>,
  where: "frame" | "window" | "sandbox",
  enctype = "",
) =>
  page.evaluate(
    async ([to, values, target, coding]) => {
      const inputs = Object.entries(values)
        .map(([name, value]) => `<input name='${name}' value='${value}'>`)
        .join("")
      const form = `<form method=post action="${to}" enctype="${coding}">${inputs}</form>`
      if (target === "window") {
        document.body.innerHTML = form
        document.querySelector("form")!.submit()
        return
      }
      const frame = document.createElement("iframe")
      frame.name = `frame${Math.random()}`
      // Its origin is opaque.
      if (target === "sandbox") {
        frame.setAttribute("sandbox", "allow-forms allow-scripts")
        frame.srcdoc = `${form}<script>document.querySelector("form").submit()</script>`
      }
      document.body.append(frame)
      if (target === "frame") {
        const holder = document.createElement("div")
        holder.innerHTML = form
        document.body.append(holder)
        const own = holder.querySelector("form")!
        own.target = frame.name
        own.submit()
      }
      await new Promise((done) => frame.addEventListener("load", done))
    },
    [action, fields, where, enctype] as const,
  )

it("no form of another origin changes anything, in a frame, in the window, without an origin, or redirected", async () => {
  const { page, sent } = await signedIn("Form owner")
  const before = await state()
  for (const where of ["frame", "sandbox"] as const) {
    await page.goto(elsewhere)
    for (const [path, fields] of FORMS) {
      await submit(page, cabinet.base + path, fields, where)
      await submit(page, cabinet.base + path, fields, where, "text/plain")
    }
  }
  for (const [path, fields] of FORMS) {
    await page.goto(elsewhere)
    await Promise.all([
      page.waitForURL((url) => url.href.startsWith(cabinet.base)),
      submit(page, cabinet.base + path, fields, "window"),
    ])
    await page.goto(elsewhere)
    const on = `${elsewhere}/on?${encodeURIComponent(cabinet.base + path)}`
    await Promise.all([page.waitForURL((url) => url.href.startsWith(cabinet.base)), submit(page, on, fields, "window")])
  }
  assert.strictEqual(await state(), before)
  const posts = sent.filter(({ method }) => method === "POST")
  assert.isAtLeast(posts.length, FORMS.length * 6)
  // Without an origin the browser sends no cookie, so the request has no session.
  for (const { status, cookie, path } of posts) assert.oneOf(status, cookie ? [403] : [401, 403], path)
  // The cookie was sent, so it was not only the browser that refused the requests.
  assert.isAbove(posts.filter(({ cookie }) => cookie).length, FORMS.length)
}, 120_000)

it("no script of another origin changes anything, or reads a response", async () => {
  const { page, sent } = await signedIn("Script owner")
  const before = await state()
  await page.goto(elsewhere)
  const read = await page.evaluate(async (base) => {
    const answers: Array<string> = []
    const body = '{"name":"forged"}'
    const types = ["text/plain", "application/x-www-form-urlencoded", "application/json"]
    for (const path of ["/manage/v1/keys", "/manage/v1/me/sign-out", "/console/keys", "/console/sign-out"]) {
      for (const mode of ["no-cors", "cors"] as const) {
        for (const method of ["POST", "DELETE", "PATCH", "PUT"]) {
          for (const type of types) {
            await fetch(base + path, { method, mode, credentials: "include", headers: { "content-type": type }, body })
              .then((response) => response.text())
              .then((text) => answers.push(text))
              .catch(() => {})
          }
        }
      }
      navigator.sendBeacon(base + path, body)
      navigator.sendBeacon(base + path, new URLSearchParams({ name: "forged" }))
      const request = new XMLHttpRequest()
      request.open("POST", base + path)
      request.withCredentials = true
      await new Promise((done) => {
        request.addEventListener("loadend", done)
        request.send(body)
      })
      answers.push(request.responseText)
    }
    return answers.filter((text) => text !== "")
  }, cabinet.base)
  assert.deepStrictEqual(read, [])
  assert.strictEqual(await state(), before)
  const changing = sent.filter(({ method }) => method !== "GET" && method !== "OPTIONS")
  assert.isAbove(changing.filter(({ cookie }) => cookie).length, 10)
  for (const { status, method, path, cookie } of changing) {
    assert.oneOf(status, cookie ? [403, 405] : [401, 403, 405], `${method} ${path}`)
  }
}, 120_000)

it("GET requests change nothing: links, images and frames of another origin, and no page can frame the console", async () => {
  const { page } = await signedIn("Looking owner")
  const before = await state()
  const acts = FORMS.map(([path]) => cabinet.base + path)
  await page.goto(elsewhere)
  await page.evaluate(async (all) => {
    for (const address of all) {
      const image = new Image()
      image.src = address
      await new Promise((done) => {
        image.addEventListener("load", done)
        image.addEventListener("error", done)
      })
    }
  }, acts)
  await page.evaluate(async (address) => {
    const frame = document.createElement("iframe")
    frame.src = address
    document.body.append(frame)
    await new Promise((done) => frame.addEventListener("load", done))
  }, `${cabinet.base}/console/tables`)
  const framed = page.frames().find((frame) => frame !== page.mainFrame())!
  assert.notInclude(await framed.content(), "orders")
  for (const address of acts) {
    await page.goto(elsewhere)
    await page.evaluate((to) => void (location.href = to), address)
    await page.waitForURL((url) => url.href.startsWith(cabinet.base))
  }
  assert.strictEqual(await state(), before)
}, 120_000)

it("the same request from the console's own page succeeds, so the others were refused for their origin", async () => {
  const { page } = await signedIn("Honest owner")
  const status = await page.evaluate(async (address) => {
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: '{"name":"honest"}' }
    return (await fetch(address, init)).status
  }, `${cabinet.base}/manage/v1/keys`)
  assert.strictEqual(status, 201)
  await page.goto(`${cabinet.base}/console/integrations`)
  await page.fill('form[action$="/console/keys"] input[name=name]', "honest form")
  await page.click('form[action$="/console/keys"] button')
  await page.locator("#issued").waitFor()
  const names = (await manage("GET", "keys")).data.map(({ name }: any) => name)
  assert.includeMembers(names, ["honest", "honest form"])
})
