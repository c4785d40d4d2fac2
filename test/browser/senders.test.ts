/**
 * What Chromium sends for HTML forms, and for scripts of pages of another origin, to `cabinet serve`: read back from the feed,
 * the row and the delivery.
 */
import { afterAll, afterEach, assert, beforeAll, it } from "vitest"
import { bytesOf } from "../support/senders.ts"
import { type Chromium, startChromium, type Visit } from "./support/chromium.ts"
import { type ServedCabinet, serveCabinet } from "./support/servedCabinet.ts"
import { type Site, startSite } from "./support/site.ts"

let cabinet: ServedCabinet
let chromium: Chromium
let site: Site
let visit: Visit
beforeAll(async () => {
  cabinet = await serveCabinet()
  chromium = await startChromium()
  site = await startSite()
})
afterEach(async () => {
  assert.deepStrictEqual([visit.outside, visit.complaints], [[], []])
  await visit.page.context().close()
})
afterAll(async () => {
  await chromium.close()
  await site.close()
  await cabinet.close()
})

const form = (attributes: string, inside: string) =>
  `<!doctype html><title>Заявка</title><form method="post" action="${cabinet.intake}" ${attributes}>${inside}<button name="go" value="yes">Отправить</button></form>`

const FIELDS = `
  <input name="имя">
  <textarea name="note"></textarea>
  <label><input type="checkbox" name="tags[]" value="a">a</label>
  <label><input type="checkbox" name="tags[]" value="b">b</label>
  <select name="size" multiple><option>S<option>M<option>L</select>
  <input name="пусто">
  <input type="hidden" name="utm_source" value="лето">
  <input type="date" name="day">
  <input type="number" name="amount" step="0.01">`

/** Opens a page, fills its form in by `fill`, and presses the button. */
const submitted = async (
  page: string | Buffer,
  headers: Record<string, string>,
  fill: (visit: Visit) => Promise<void>,
) => {
  visit = await chromium.visit({ locale: "ru-RU" })
  const address = site.put("/form", page, headers)
  await visit.page.goto(address)
  await fill(visit)
  const arrived = await cabinet.arrival(() => visit.page.click("button"))
  await visit.page.waitForURL((url) => url.href.startsWith(cabinet.intake))
  assert.strictEqual(await visit.page.textContent("h1"), "Спасибо")
  return arrived
}

const fillAll = async ({ page }: Visit, mark: string) => {
  await page.fill('[name="имя"]', `Анна "Ё" & Ко ${mark}`)
  await page.fill('[name="note"]', "1 + 1 = 2\n100%; 50% off")
  await page.getByLabel("a", { exact: true }).check()
  await page.getByLabel("b", { exact: true }).check()
  await page.selectOption('[name="size"]', ["S", "L"])
  await page.fill('[name="day"]', "2026-11-21")
  await page.fill('[name="amount"]', "12.50")
}

/** The text with CRLF line ends, which the standard requires for a textarea. */
const filled = (mark: string) => ({
  имя: `Анна "Ё" & Ко ${mark}`,
  note: "1 + 1 = 2\r\n100%; 50% off",
  "tags[]": ["a", "b"],
  size: ["S", "L"],
  пусто: "",
  utm_source: "лето",
  day: "2026-11-21",
  amount: "12.50",
  go: "yes",
})

it.each([
  ["application/x-www-form-urlencoded", "utf-8"],
  ["application/x-www-form-urlencoded", "windows-1251"],
  ["multipart/form-data", "utf-8"],
  ["multipart/form-data", "windows-1251"],
] as const)("a form of %s on a page in %s arrives as typed in", async (enctype, charset) => {
  const mark = `${enctype} ${charset}`
  const page = bytesOf(form(`enctype="${enctype}"`, FIELDS), charset)
  const { payload, row } = await submitted(page, { "content-type": `text/html; charset=${charset}` }, (parts) =>
    fillAll(parts, mark),
  )
  assert.strictEqual(payload, JSON.stringify(filled(mark)))
  assert.deepStrictEqual(row, filled(mark))
})

it("accept-charset and _charset_ declare the bytes, and characters missing in the charset arrive as the browser writes them", async () => {
  const page = form(`accept-charset="windows-1251"`, `<input type="hidden" name="_charset_"><input name="слово">`)
  const { payload, row } = await submitted(page, {}, ({ page: tab }) => tab.fill('[name="слово"]', "Ї ☃"))
  assert.strictEqual(payload, '{"_charset_":"windows-1251","слово":"Ї &#9731;","go":"yes"}')
  assert.deepInclude(row, { слово: "Ї &#9731;" })
})

it("a text/plain form is parsed as its fields, and so is a line of a text area that looks like a field", async () => {
  const page = form('enctype="text/plain"', `<input name="имя"><textarea name="note"></textarea>`)
  const { payload } = await submitted(page, {}, async ({ page: tab }) => {
    await tab.fill("input", "Анна")
    await tab.fill("textarea", "1\ntwo, three\ngo=no")
  })
  assert.strictEqual(payload, '{"имя":"Анна","note":"1\\r\\ntwo, three","go":["no","yes"]}')
})

it("files arrive as name, type and size, and a file input left blank as an empty field", async () => {
  const inputs = `<input name="имя"><input type="file" name="смета"><input type="file" name="photos" multiple><input type="file" name="blank">`
  const { payload, row } = await submitted(form('enctype="multipart/form-data"', inputs), {}, async ({ page }) => {
    await page.fill('[name="имя"]', "Анна")
    await page.setInputFiles('[name="смета"]', {
      name: 'смета "2026".csv',
      mimeType: "text/csv",
      buffer: Buffer.from("a;b\n"),
    })
    await page.setInputFiles('[name="photos"]', [
      { name: "a.png", mimeType: "image/png", buffer: Buffer.alloc(70_000, 1) },
      { name: "без типа", mimeType: "", buffer: Buffer.alloc(0) },
    ])
  })
  const expected = {
    имя: "Анна",
    смета: { name: 'смета "2026".csv', type: "text/csv", size: 4 },
    photos: [
      { name: "a.png", type: "image/png", size: 70_000 },
      { name: "без типа", type: "application/octet-stream", size: 0 },
    ],
    blank: "",
    go: "yes",
  }
  assert.strictEqual(payload, JSON.stringify(expected))
  assert.deepStrictEqual(row, expected)
})

it("a form's URL may have its own fields, which come first", async () => {
  const page = `<!doctype html><form method="post" action="${cabinet.intake}?page=%D1%86%D0%B5%D0%BD%D1%8B"><input name="mail"><button>OK</button></form>`
  const { payload } = await submitted(page, {}, ({ page: tab }) => tab.fill("input", "a@b.example"))
  assert.strictEqual(payload, '{"page":"цены","mail":"a@b.example"}')
})

/** A page whose scripts send data. */
const opened = async () => {
  visit = await chromium.visit()
  await visit.page.goto(site.put("/", "<!doctype html><title>Shop</title>"))
}

/** Runs in the page; `sent` is a body in JavaScript. */
const fetched = async (body: string, headers: Record<string, string> = {}) => {
  await opened()
  let answer: unknown
  const arrived = await cabinet.arrival(async () => {
    const options = `{ method: "POST", body: ${body}, headers: ${JSON.stringify(headers)} }`
    const script = `fetch("${cabinet.intake}", ${options}).then(async (it) => ({ status: it.status, ...(await it.json()) }))`
    answer = await visit.page.evaluate(script)
  })
  return { ...arrived, answer }
}

const ACCEPTED = { status: 200, ok: true, duplicate: false, empty: false }

it("fetch sends JSON after a preflight, every token is kept, and the page may read the response", async () => {
  const json = `{"id":12345678901234567890,"total":12.50,"имя":"Анна \u{1f44b}","__proto__":{"a":null}}`
  const { payload, answer } = await fetched(JSON.stringify(json), { "content-type": "application/json" })
  assert.strictEqual(payload, json)
  assert.deepInclude(answer, ACCEPTED)
})

it("fetch sends FormData with a file", async () => {
  const { payload, row, answer } = await fetched(
    `(() => { const form = new FormData(); form.append("имя", "Анна\\n2"); form.append("файл", new File(["abc"], "я.txt", { type: "text/plain" })); return form })()`,
  )
  assert.deepInclude(answer, ACCEPTED)
  assert.strictEqual(payload, '{"имя":"Анна\\r\\n2","файл":{"name":"я.txt","type":"text/plain","size":3}}')
  assert.deepStrictEqual(row, JSON.parse(payload))
})

it("fetch sends URLSearchParams", async () => {
  const { payload, answer } = await fetched(`new URLSearchParams([["q", "a b+c"], ["q", "ü"]])`)
  assert.deepInclude(answer, ACCEPTED)
  assert.strictEqual(payload, '{"q":["a b+c","ü"]}')
})

it("text that fetch sends without a content type is parsed as the JSON that it is", async () => {
  const { payload, answer } = await fetched(`'{"kind":"bare"}'`)
  assert.deepInclude(answer, ACCEPTED)
  assert.strictEqual(payload, '{"kind":"bare"}')
})

it("fetch sends a body that the page compressed", async () => {
  await opened()
  const { payload } = await cabinet.arrival(() =>
    visit.page.evaluate(async (url) => {
      const stream = new Blob(['{"packed":1.0}']).stream().pipeThrough(new CompressionStream("gzip"))
      const headers = { "content-type": "application/json", "content-encoding": "gzip" }
      await fetch(url, { method: "POST", body: await new Response(stream).blob(), headers })
    }, cabinet.intake),
  )
  assert.strictEqual(payload, '{"packed":1.0}')
})

/** Sends with `navigator.sendBeacon` while the page is being left, without seeing a response. */
const beaconed = (body: string) =>
  cabinet.arrival(async () => {
    await visit.page.evaluate(
      `void addEventListener("pagehide", () => navigator.sendBeacon("${cabinet.intake}", ${body}))`,
    )
    await visit.page.goto(site.put("/next", "<!doctype html><title>Next</title>"))
  })

it("a beacon of text, of a form and of a typed blob arrives while its page is left", async () => {
  await opened()
  assert.strictEqual((await beaconed(`'{"event":"leave","ms":1200}'`)).payload, '{"event":"leave","ms":1200}')
  const sentForm = await beaconed(
    `(() => { const form = new FormData(); form.append("событие", "уход"); form.append("ms", "1"); return form })()`,
  )
  assert.strictEqual(sentForm.payload, '{"событие":"уход","ms":"1"}')
  assert.deepStrictEqual(sentForm.row, { событие: "уход", ms: "1" })
  assert.strictEqual((await beaconed(`new URLSearchParams([["a", "b"]])`)).payload, '{"a":"b"}')
  const blob = await beaconed(`new Blob(['{"n":0.10}'], { type: "text/plain" })`)
  assert.strictEqual(blob.payload, '{"n":0.10}')
})

it("a request that outlives its page arrives", async () => {
  await opened()
  const { payload } = await cabinet.arrival(async () => {
    await visit.page.evaluate((url) => {
      addEventListener("pagehide", () => void fetch(url, { method: "POST", body: '{"kept":"alive"}', keepalive: true }))
    }, cabinet.intake)
    await visit.page.goto(site.put("/next", "<!doctype html><title>Next</title>"))
  })
  assert.strictEqual(payload, '{"kept":"alive"}')
})
