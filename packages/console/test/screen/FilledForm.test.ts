import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { filledForm, SECRET_FIELDS, type TypedForm } from "@data-cabinet/console/screen/FilledForm"
import { tagsOf } from "@data-cabinet/console/html/MarkupTags"
import { postForm } from "@data-cabinet/console/html/PostForm"
import { escapeHtml, unescapeHtml, type Html, markup } from "@data-cabinet/http-node/html/Html"
import { assert, it } from "vitest"
import { randomOf, seeded } from "../../../../test/support/random.ts"

const message = { fields: ["name"], html: "It is too long." }

const form = (body: Html) => markup`<h1>&lt;form&gt;</h1>${postForm({ path: "/save", body })}<p>After</p>`.text

const typed = (...pairs: TypedForm["pairs"]): TypedForm => ({ action: "/save", pairs })

const PIECES = [
  "<",
  ">",
  '"',
  "'",
  "&",
  "&amp;",
  "&lt;/form&gt;",
  "</form>",
  "</textarea>",
  "\n",
  "\r\n",
  "\r",
  "$&",
  "x",
  "Ж",
  "=",
  " ",
]

const random = seeded(7)
const TEXTS = Array.from({ length: 2_000 }, () =>
  Array.from({ length: random(12) }, () => randomOf(random, PIECES)).join(""),
)

/** The value that a browser would have in the field. */
const valueIn = (html: string, name: string): string | undefined =>
  tagsOf(html)
    .find((tag) => tag.attributes.get("name") === name)
    ?.attributes.get("value")

it("any text comes back in its field, and changes nothing around it", () => {
  for (const text of TEXTS) {
    const html = filledForm(form(markup`<input name="name" value="before">`), typed(["name", text]), null)!
    assert.strictEqual(valueIn(html, "name"), text)
    assert.match(html, /^<h1>&lt;form&gt;<\/h1><form /)
    assert.match(html, /<\/form><p>After<\/p>$/)
    assert.strictEqual(unescapeHtml(escapeHtml(text)), text)
  }
})

it("any text comes back in a field of several lines, even with a leading line feed", () => {
  for (const text of TEXTS) {
    const html = filledForm(form(markup`<textarea name="name">before</textarea>`), typed(["name", text]), null)!
    const content = /<textarea[^>]*>\n([^]*)<\/textarea>/.exec(html)![1]!
    assert.strictEqual(unescapeHtml(content), text.replaceAll("\r\n", "\n"))
  }
})

it("choices, repeated fields and options keep what was chosen", () => {
  const body = markup`<input name="fc" value="a"><input name="fc" value=""><select name="fo"><option>eq</option><option value="gt" selected>more</option></select>
<input type="checkbox" name="on" value="1" checked><input type="checkbox" name="on" value="2"><input type="radio" name="one" value="x" checked><input type="radio" name="one" value="y">`
  const html = filledForm(form(body), typed(["fc", "b"], ["fc", "c"], ["fo", "eq"], ["on", "2"], ["one", "y"]), null)!
  assert.match(html, /value="b"[^>]*><input name="fc" value="c">/)
  assert.include(html, "<option selected>eq</option>")
  assert.include(html, '<option value="gt">more</option>')
  assert.include(html, '<input type="checkbox" name="on" value="1"><input type="checkbox" name="on" value="2" checked>')
  assert.include(html, '<input type="radio" name="one" value="x"><input type="radio" name="one" value="y" checked>')
})

it("nothing secret, hidden or uploaded is filled in", () => {
  const body = markup`<input name="name"><input type="password" name="pin"><textarea name="client_identity_key"></textarea><input type="file" name="file"><input type="hidden" name="id" value="7">`
  const pairs = ["name", "pin", "client_identity_key", "file"].map((name) => [name, "SECRET"] as const)
  const html = filledForm(form(body), typed(...pairs, ["id", "7"]), message)!
  assert.strictEqual(html.split("SECRET").length, 2)
  assert.strictEqual(valueIn(html, "name"), "SECRET")
})

it("the message follows the field's label, describes the field, and has the focus", () => {
  const body = markup`<label>Name <input name="name" aria-describedby="hint"></label><label>Other <input name="other"></label>`
  const html = filledForm(form(body), typed(["name", "x"], ["other", "y"]), message)!
  assert.include(
    html,
    '<label>Name <input name="name" aria-describedby="hint wrong" value="x" autofocus aria-invalid="true"></label><p class="wrong" id="wrong" role="alert">It is too long.</p>',
  )
})

it("a refusal without a field stands at the beginning of the form", () => {
  const html = filledForm(form(markup`<input name="other">`), typed(["other", "y"]), message)!
  assert.match(html, /<form [^>]*><p class="wrong"[^>]*>It is too long.<\/p>/)
  assert.notInclude(html, "aria-invalid")
})

it("a form in a closed menu and a field in closed details are opened", () => {
  const inside = form(
    markup`<details><summary>More</summary><input name="name"></details><details><input name="b"></details>`,
  )
  const html = filledForm(`<div class="menu" popover id="m">${inside}</div>`, typed(["name", "x"], ["b", ""]), message)!
  assert.match(html, /^<div class="menu" id="m">/)
  assert.include(html, "<details open><summary>")
  assert.include(html, '<details><input name="b"')
})

it("the sent form is filled when several forms have the same address", () => {
  const one = (id: string) =>
    postForm({ path: "/save", body: markup`<input type="hidden" name="id" value="${id}"><input name="name">` })
  const page = markup`${one("1")}${one("2")}${one("3")}`.text
  const html = filledForm(page, typed(["id", "2"], ["name", "x"]), null)!
  assert.match(html, /name="id" value="2"><input name="name" value="x"/)
  assert.strictEqual(html.split('value="x"').length, 2)
  assert.isNull(filledForm(page, typed(["id", "4"], ["name", "x"]), null))
  assert.isNull(filledForm(page, { action: "/other", pairs: [] }, null))
})

it("every password of a screen is a secret field", () => {
  const src = fileURLToPath(new URL("../../src/", import.meta.url))
  const names = globSync("**/*.ts", { cwd: src }).flatMap((file) =>
    [...readFileSync(src + file, "utf8").matchAll(/<input[^>]*type="password"[^>]*>/g)].map(
      ([tag]) => /name="(\w+)"/.exec(tag)![1]!,
    ),
  )
  assert.isAbove(names.length, 4)
  assert.deepStrictEqual(
    names.filter((name) => !SECRET_FIELDS.has(name)),
    [],
  )
})

it("every form names its address, since a refused form is shown at another one", () => {
  const src = fileURLToPath(new URL("../../src/", import.meta.url))
  const without = globSync("**/*.ts", { cwd: src }).filter((file) =>
    /<form(?![^>]*action=)[^>]*>/.test(readFileSync(src + file, "utf8")),
  )
  assert.deepStrictEqual(
    without,
    ["screen/FilledForm.ts"].filter((file) => without.includes(file)),
  )
})

it("filledForm scans the sent pairs only a few times when many forms have the same address", () => {
  let reads = 0
  const pairs = new Proxy(
    Array.from({ length: 1_000 }, (_, n) => [`f${n}`, ""] as const),
    {
      get: (target, key) => {
        if (/^\d+$/.test(String(key))) reads++
        return Reflect.get(target, key) as unknown
      },
    },
  )
  const one = (n: number) =>
    postForm({ path: "/save", body: markup`<input type="hidden" name="n" value="${n}"><input name="f1">` }).text
  const list = Array.from({ length: 100 }, (_, n) => one(n)).join("")
  assert.isNull(filledForm(list, { action: "/save", pairs }, message))
  assert.isAtMost(reads, 10_000)
})

it("tagsOf names the tags around a tag, and the end tag that closes it", () => {
  const shape = seeded(11)
  for (let round = 0; round < 300; round++) {
    const open: Array<{ readonly name: string; readonly at: number }> = []
    const expected: Array<{ around: ReadonlyArray<number>; closedBy: number }> = []
    let html = ""
    for (let at = 0; at < 60; at++) {
      const kind = shape(4)
      const around = open.map((one) => one.at)
      expected.push({ around, closedBy: at })
      if (kind === 0) html += `text<input name="${at}">`
      else if (kind === 1 && open.length > 0) {
        const begun = open.pop()!
        html += `</${begun.name}>`
        expected[begun.at]!.closedBy = at
      } else {
        const name = randomOf(shape, ["form", "div", "details", "p"])
        html += `<${name} title="a &lt; b" open>`
        open.push({ name, at })
      }
    }
    assert.deepStrictEqual(
      tagsOf(html).map(({ around, closedBy }) => ({ around, closedBy })),
      expected,
    )
  }
})

it("tagsOf lists the tags around a tag only when that list is read", () => {
  const html = "<div>".repeat(2_000) + "<b></b>".repeat(20_000) + "</div>".repeat(2_000)
  const before = process.memoryUsage().heapUsed
  const tags = tagsOf(html)
  // Copying would take 40,000 times 2,000 positions.
  assert.isBelow(process.memoryUsage().heapUsed - before, 200_000_000)
  assert.strictEqual(tags[2_000]!.around.length, 2_000)
})

it("filledForm leaves a screen of more than four million characters as it is", () => {
  const screen = (length: number) => form(markup`<input name="name">`) + "x".repeat(length)
  assert.isNotNull(filledForm(screen(1_000), typed(["name", "a"]), null))
  assert.isNull(filledForm(screen(4_000_000), typed(["name", "a"]), null))
})
