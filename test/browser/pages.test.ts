/** The pages of an intake address, as a person on a phone sees them in Chromium. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { intakePage, type IntakePage } from "@data-cabinet/http-node/html/IntakePages"
import { PAGE_HEADERS } from "@data-cabinet/http-node/html/Page"
import type { Page, Response } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type IntakeCabinet, intakeCabinet } from "../support/intakeCabinet.ts"
import { withDatabase } from "../support/postgres.ts"
import { type Chromium, startChromium, type Visit } from "./support/chromium.ts"
import { type Site, startSite } from "./support/site.ts"

const PHONE = { width: 340, height: 640 }

const database = withDatabase()
let cabinet: IntakeCabinet
let strict: IntakeCabinet
let chromium: Chromium
let site: Site
let files: string
beforeAll(async () => {
  files = mkdtempSync(join(tmpdir(), "cabinet-pages-"))
  cabinet = await intakeCabinet(database.url)
  strict = await intakeCabinet(database.url, { intakeRate: 1 })
  chromium = await startChromium()
  site = await startSite()
})
afterAll(async () => {
  await chromium.close()
  await site.close()
  await strict.close()
  await cabinet.close()
  rmSync(files, { recursive: true })
})

/** Checks that a page is ours: in its own style, within the screen's width, without errors. */
const assertFine = async ({ page, outside, complaints }: Visit, language: "en" | "ru", words: string) => {
  const seen = await page.evaluate(() => {
    const places = [...document.body.querySelectorAll("*")].map((element) => element.getBoundingClientRect())
    return {
      language: document.documentElement.lang,
      heading: document.querySelector("h1")?.textContent,
      styled: getComputedStyle(document.querySelector("main")!).borderTopLeftRadius,
      scrolls: document.documentElement.scrollWidth > innerWidth,
      beyond: places.filter(({ left, right }) => left < 0 || right > innerWidth).length,
    }
  })
  assert.deepStrictEqual(seen, { language, heading: words, styled: "14px", scrolls: false, beyond: 0 })
  assert.deepStrictEqual([outside, complaints], [[], []])
}

/** A visitor with a form before them. */
const withForm = async (action: string, locale: string, field = "<input name=a value=1>"): Promise<Visit> => {
  const visit = await chromium.visit({ locale, viewport: PHONE })
  const html = `<!doctype html><form method="post" enctype="multipart/form-data" action="${action}">${field}<button>OK</button></form>`
  await visit.page.goto(site.put("/form", html))
  return visit
}

const press = async (page: Page): Promise<Response> => {
  const [response] = await Promise.all([page.waitForNavigation(), page.click("button")])
  return response!
}

describe.each([
  {
    locale: "en-US",
    language: "en",
    thanks: "Thank you",
    lost: "This address does not accept data",
    opened: "This address accepts data",
    large: "This is too large",
    often: "Too many requests",
  },
  {
    locale: "ru-RU",
    language: "ru",
    thanks: "Спасибо",
    lost: "По этому адресу данные не принимают",
    opened: "Это адрес для приёма данных",
    large: "Слишком много данных",
    often: "Слишком много запросов",
  },
] as const)("in $language", ({ locale, language, thanks, lost, opened, large, often }) => {
  it("a sent form gets a thank-you page, which links back to it", async () => {
    const visit = await withForm(cabinet.address(await cabinet.source(`thanks ${locale}`)), locale)
    assert.strictEqual((await press(visit.page)).status(), 200)
    await assertFine(visit, language, thanks)
    // Across origins, the browser reveals only the origin of the form's page.
    site.put("/", "<!doctype html><title>Home</title>")
    await visit.page.click("a")
    await visit.page.waitForURL(`${site.origin}/`)
  })

  it("a form to an unknown address says that nothing was saved", async () => {
    const visit = await withForm(`http://127.0.0.1:${cabinet.port}/webhook/nothing-here`, locale)
    assert.strictEqual((await press(visit.page)).status(), 404)
    await assertFine(visit, language, lost)
  })

  it("an intake address opened in a browser says what it is for", async () => {
    const visit = await chromium.visit({ locale, viewport: PHONE })
    const response = await visit.page.goto(cabinet.address(await cabinet.source(`opened ${locale}`)))
    assert.strictEqual(response!.status(), 405)
    assert.strictEqual(response!.headers()["allow"], "POST")
    await assertFine(visit, language, opened)
  })

  it.each([1_100_000, 12_000_000])(
    "a file of %d bytes is refused as too large, and the person sees it",
    async (size) => {
      const address = cabinet.address(await cabinet.source(`large ${size} ${locale}`))
      const visit = await withForm(address, locale, "<input type=file name=f>")
      const file = join(files, `${size}.png`)
      writeFileSync(file, Buffer.alloc(size, 7))
      await visit.page.setInputFiles("input", file)
      assert.strictEqual((await press(visit.page)).status(), 413)
      await assertFine(visit, language, large)
    },
  )

  it("a form sent too often says when to retry", async () => {
    const address = strict.address(await strict.source(`often ${locale}`))
    const statuses: Array<number> = []
    let visit: Visit
    // The second request within a minute is one too many, or the third if a new minute begins in between.
    do {
      visit = await withForm(address, locale)
      statuses.push((await press(visit.page)).status())
    } while (statuses.at(-1) === 200 && statuses.length < 3)
    assert.strictEqual(statuses.at(-1), 429, String(statuses))
    await assertFine(visit, language, often)
    assert.match((await visit.page.textContent("p"))!, language === "ru" ? /Подождите \d+ секунд/ : /wait \d+ second/)
  })
})

it("a form redirects to the page that its source names", async () => {
  const thanksUrl = site.put("/спасибо", "<!doctype html><h1>Ours</h1>")
  const visit = await withForm(cabinet.address(await cabinet.source("thanks url", { thanksUrl })), "ru-RU")
  await press(visit.page)
  await visit.page.waitForURL(thanksUrl)
  assert.strictEqual(await visit.page.textContent("h1"), "Ours")
  assert.strictEqual(await visit.page.evaluate(() => document.body.innerHTML.includes("webhook")), false)
})

it("a form in a frame gets its thank-you page in the frame", async () => {
  const action = cabinet.address(await cabinet.source("framed"))
  const visit = await chromium.visit({ viewport: PHONE })
  const html = `<!doctype html><form method="post" action="${action}" target="answer"><input name="a" value="1"><button>OK</button></form><iframe name="answer"></iframe>`
  await visit.page.goto(site.put("/frame", html))
  await visit.page.click("button")
  await visit.page.frameLocator("iframe").getByRole("heading", { name: "Thank you" }).waitFor()
  assert.deepStrictEqual([visit.outside, visit.complaints], [[], []])
})

const EVERY: ReadonlyArray<IntakePage> = [
  { name: "thanks" },
  { name: "method_not_allowed" },
  { name: "not_found" },
  { name: "too_large", limit: 1_048_576 },
  { name: "rate_limited", retryAfter: 59 },
  { name: "timeout" },
  { name: "unavailable" },
  { name: "internal_error", number: "0b9f3c1e-5d3c-4c44-9d3e-2f6a8f0f7d11" },
]

it.each(["light", "dark"] as const)("every page fits a phone, in a %s scheme", async (colorScheme) => {
  const back = new URL(`https://${"a-very-long-name".repeat(3)}.${"of-some-shop".repeat(4)}.example/`)
  const visit = await chromium.visit({ viewport: PHONE, colorScheme })
  for (const language of ["en", "ru"] as const) {
    for (const what of EVERY) {
      const html = intakePage(what, language, back)
      const heading = /<h1>(.*)<\/h1>/.exec(html)![1]!
      await visit.page.goto(site.put(`/${language}/${what.name}`, html, PAGE_HEADERS))
      await assertFine(visit, language, heading)
    }
  }
})

describe("a form that demands a proof of a person", () => {
  const policed = (address: string) => {
    const { origin } = new URL(address)
    const policy = `default-src 'none'; script-src ${origin} 'nonce-own'; connect-src ${origin} ${site.origin}; form-action ${origin}`
    return `<!doctype html><meta http-equiv="Content-Security-Policy" content="${policy}">
<form method="post" action="${address}"><input name="a" value="1"><button>OK</button></form>
<script src="${address}/proof.js" defer></script>`
  }
  const rowsOf = async (table: string) =>
    (await database.run(`SELECT a, to_jsonb(t) ? 'altcha' AS proof FROM sources.${table} t ORDER BY _event_id`)).map(
      ({ a, proof }) => [a, proof],
    )

  it("is sent with one under a strict policy, and the visitor gets the page", async () => {
    const source = await cabinet.source("Proven", { proof: { kind: "altcha" } })
    const { page, complaints } = await chromium.visit({ locale: "en" })
    await page.goto(site.put("/proven", policed(cabinet.address(source))))
    await Promise.all([page.waitForURL(cabinet.address(source)), page.click("button")])
    assert.deepStrictEqual(complaints, [])
    assert.deepStrictEqual(await rowsOf("proven"), [["1", false]])
  })

  it("that stays on its page gets a new one each time", async () => {
    const source = await cabinet.source("Staying", { proof: { kind: "altcha" } })
    const address = cabinet.address(source)
    const script = `<script nonce="own">document.forms[0].addEventListener("submit", async (event) => {
  event.preventDefault()
  await fetch("${address}", { method: "POST", body: new URLSearchParams(new FormData(event.target)) })
  event.target.a.value = "2"
  document.title += "!"
})</script>`
    const { page, complaints } = await chromium.visit({ locale: "en" })
    await page.goto(site.put("/staying", policed(address).replace("<script", `${script}<script`)))
    for (const title of ["!", "!!"]) {
      await page.click("button")
      await page.waitForFunction((wanted) => document.title === wanted, title)
    }
    assert.deepStrictEqual(complaints, [])
    assert.deepStrictEqual(await rowsOf("staying"), [
      ["1", false],
      ["2", false],
    ])
  })
})
