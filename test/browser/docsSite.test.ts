/** The site that `.ci/site` builds from docs/: complete, self-contained, and no wider than a phone. */
import { createReadStream, globSync, readFileSync, statSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { extname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, it } from "vitest"
import { type Chromium, startChromium } from "./support/chromium.ts"

const DIST = fileURLToPath(new URL("../../site/dist/", import.meta.url))
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
}

let chromium: Chromium
let server: Server
let origin: string
let pages: ReadonlyArray<string>
/** Requested files that do not exist. */
const missing: Array<string> = []

beforeAll(async () => {
  pages = globSync("**/*.html", { cwd: DIST })
    .map((file) => `/${file.replace(/(^|(?<=\/))index\.html$|\.html$/, "")}`)
    .filter((page) => page !== "/404")
  assert.isAbove(pages.length, 50, "the site is not built: .ci/site")
  server = createServer(({ url }, response) => {
    const file = fileOf(new URL(url!, "http://site").pathname)
    if (file === undefined) {
      missing.push(url!)
      return void response.writeHead(404).end()
    }
    response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "text/plain; charset=utf-8" })
    createReadStream(file).pipe(response)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  chromium = await startChromium()
})
afterAll(async () => {
  await chromium.close()
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
})

/** The file of a path without an extension, as static hosts find it. */
const fileOf = (path: string): string | undefined =>
  [path, `${path}.html`, `${path}index.html`, `${path}/index.html`]
    .map((candidate) => join(DIST, decodeURIComponent(candidate)))
    .find((file) => statSync(file, { throwIfNoEntry: false })?.isFile() === true)

it("every link leads to an existing page, file or heading", () => {
  const html = new Map(pages.map((page) => [page, readFileSync(fileOf(page)!, "utf8")]))
  const dead = [...html].flatMap(([page, text]) =>
    [...text.matchAll(/<a [^>]*?href="([^"]*)"/g)].flatMap(([, href]) => {
      const { origin: where, pathname, hash } = new URL(href!.replaceAll("&amp;", "&"), `http://site${page}`)
      if (where !== "http://site") return []
      const file = fileOf(pathname)
      if (file === undefined) return [`${page}: ${href}`]
      if (hash === "" || !file.endsWith(".html")) return []
      const id = decodeURIComponent(hash.slice(1))
      return readFileSync(file, "utf8").includes(`id="${id}"`) ? [] : [`${page}: ${href}`]
    }),
  )
  assert.deepStrictEqual(dead, [])
})

it("llms.txt lists the Markdown beside the pages, whose links lead to files of the site and whose code is as written", () => {
  for (const page of pages.filter((each) => each !== "/")) {
    const at = page.endsWith("/") ? `${page}index.md` : `${page}.md`
    assert.isTrue(statSync(join(DIST, at), { throwIfNoEntry: false })?.isFile(), at)
  }
  const texts = ["llms.txt", ...globSync("**/*.md", { cwd: DIST })]
  const dead = texts.flatMap((file) => {
    const outside = readFileSync(join(DIST, file), "utf8")
      .replaceAll(/^ *(`{3,})[\s\S]*?^ *\1$/gm, "")
      .replaceAll(/`[^`\n]+`/g, "")
    return [...outside.matchAll(/\]\((?![a-z]+:|#)([^()\s#]*)/g)]
      .filter(([, href]) => !href!.startsWith("/") || fileOf(href!) === undefined)
      .map(([, href]) => `${file}: ${href}`)
  })
  assert.deepStrictEqual(dead, [])
  const listed = readFileSync(join(DIST, "llms.txt"), "utf8")
  assert.match(listed, /^# Data Cabinet\n\n> .+\n\n/)
  assert.match(listed, /^- \[The event feed\]\(\/feed\.md\): `GET \/api\/v1\/events`.+\.$/m)
  const feed = readFileSync(join(DIST, "feed.md"), "utf8")
  const code = (text: string) => text.match(/^```[\s\S]*?^```$/gm)
  assert.deepStrictEqual(code(feed), code(readFileSync(join(DIST, "../../docs/feed.md"), "utf8")))
})

it("no page is wider than a phone, requests other hosts, or violates its policy", async () => {
  const { page, outside, complaints } = await chromium.visit({ viewport: { width: 375, height: 700 } })
  const wide: Array<string> = []
  for (const path of pages.filter((each) => !/^\/(decisions|lab-notes)\/./.test(each))) {
    await page.goto(origin + path)
    if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) wide.push(path)
  }
  assert.deepStrictEqual({ wide, missing, outside, complaints }, { wide: [], missing: [], outside: [], complaints: [] })
})

it("the search finds pages without a network", async () => {
  const { page, outside } = await chromium.visit({ viewport: { width: 1280, height: 800 } })
  await page.goto(`${origin}/`)
  await page.locator("#local-search button").click()
  await page.locator("#localsearch-input").fill("next_cursor")
  await page.locator("#localsearch-list a[href*='feed']").first().click()
  await page.waitForURL(/\/feed/)
  assert.deepStrictEqual(outside, [])
})
