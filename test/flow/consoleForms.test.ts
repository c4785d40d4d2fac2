/** Forms that are refused, sent after the session has ended, or carried out. */
import { afterAll, assert, beforeAll, it } from "vitest"
import { type ConsoleCabinet, consoleCabinet } from "../browser/support/consoleCabinet.ts"
import { type Page, type Visitor, visitor } from "../support/browserSession.ts"
import { forged } from "../support/forged.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: ConsoleCabinet
let owner: Visitor
beforeAll(async () => {
  cabinet = await consoleCabinet(database.url, 2)
  owner = visitor(cabinet.base, await cabinet.as("owner"))
})
afterAll(() => cabinet.close())

const linkIn = (text: string) => /value="[^"]*\/console\/welcome#(dcl_[\w-]{43})"/.exec(text)![1]!

const editor = async (name: string) => {
  const link = linkIn((await owner.post("/console/people", { name, role: "editor" })).text)
  const who = visitor(cabinet.base)
  who.isKnown = true
  await who.post("/console/welcome", { link })
  const id = new RegExp(`people/(\\d+)">${name}<`).exec((await owner.get("/console/people")).text)![1]!
  return {
    who,
    end: () => owner.post(`/console/people/${id}/sign-out`, {}),
    signIn: async (to: string) => {
      const again = linkIn((await owner.post(`/console/people/${id}/link`, {})).text)
      return who.post("/console/welcome", { link: again, to })
    },
  }
}

const CHANGE = "/console/sources/1/change"
const AT = { form_at: "/console/sources/1" }

it("a form sent after its session ended is not carried out, and comes back after the sign-in", async () => {
  const { who, end, signIn } = await editor("Ada")
  await end()
  const refused = await who.post(CHANGE, { ...AT, name: 'Typed "name"', thanks_url: "https://typed.example/" })
  assert.strictEqual(refused.status, 303)
  const location = refused.headers.get("location")!
  assert.strictEqual(location, "/data/console/sign-in?to=%2Fconsole%2Fsources%2F1&ended=1")
  assert.include((await who.get(location.slice("/data".length))).text, "Your session has ended. Sign in, and the form")
  assert.notInclude((await owner.get("/console/sources/1")).text, "Typed")
  assert.strictEqual((await signIn("/console/sources/1")).headers.get("location"), "/data/console/sources/1")
  const back = (await who.get("/console/sources/1")).text
  assert.match(back, /name="name"[^>]*value="Typed &quot;name&quot;"/)
  assert.match(back, /name="thanks_url"[^>]*value="https:\/\/typed.example\/"/)
  assert.include(back, "has not been sent yet")
  assert.notInclude((await who.get("/console/sources/1")).text, "Typed")
})

it("a form is kept sealed, without its secrets, and only for its sender", async () => {
  const { who, end, signIn } = await editor("Grace")
  const other = await editor("Alan")
  await end()
  const form = { form_at: "/console/addresses/1", header_name: "X-Typed", header_value: "the-secret" }
  await cabinet.cabinet.addresses.create({ url: `${cabinet.base}/hook`, sources: "all" })
  await who.post("/console/addresses/1/headers", form)
  const sealed = who.brief.get("cabinet-form")!
  assert.match(sealed, /^[\w-]+$/)
  assert.notInclude(Buffer.from(sealed, "base64url").toString("latin1"), "X-Typed")
  other.who.brief.set("cabinet-form", sealed)
  assert.notInclude((await other.who.get("/console/addresses/1")).text, "X-Typed")
  await signIn("/console/addresses/1")
  who.brief.set("cabinet-form", forged(sealed, 0))
  assert.notInclude((await who.get("/console/addresses/1")).text, "X-Typed")
  who.brief.set("cabinet-form", sealed)
  assert.notInclude((await who.get("/console/sources/1")).text, "X-Typed")
  const back = (await who.get("/console/addresses/1")).text
  assert.match(back, /name="header_name"[^>]*value="X-Typed"/)
  assert.notInclude(back, "the-secret")
})

it("the headers that keep a form have at most the 4,096 bytes that nginx accepts", async () => {
  const { who, end } = await editor("Radia")
  const sizeOf = ({ headers }: Page) => {
    const all = [...headers].map(([name, value]) => `${name}: ${value}\r\n`)
    return `HTTP/1.1 303 See Other\r\n${all.join("")}\r\n`.length
  }
  await end()
  const random = Array.from({ length: 3_000 }, (_, n) => ((n * 7_919) ** 3 % 1_000_003).toString(36)).join("")
  const kept: Array<boolean> = []
  for (let length = 1_000; length <= 5_000; length += 200) {
    const response = await who.post(CHANGE, { ...AT, name: random.slice(0, length) })
    assert.isAtMost(sizeOf(response), 4_096, String(length))
    kept.push(response.headers.getSetCookie().length > 0)
  }
  assert.deepStrictEqual([kept.at(0), kept.at(-1)], [true, false])
})

it("a form that is too long to keep, or from an unknown sender, says so; one from another origin is refused", async () => {
  const { who, end } = await editor("Edsger")
  await end()
  const random = Array.from({ length: 3_000 }, (_, n) => ((n * 7_919) ** 3 % 1_000_003).toString(36)).join("")
  const long = await who.post(CHANGE, { ...AT, name: random })
  assert.deepStrictEqual([long.status, long.headers.getSetCookie()], [303, []])
  const unknown = await visitor(cabinet.base).post(CHANGE, { ...AT, name: "Typed" })
  assert.deepStrictEqual([unknown.status, unknown.headers.getSetCookie()], [303, []])
  assert.include((await who.get("/console/sign-in?ended=1")).text, "could not be kept")
  const foreign = await who.post(CHANGE, { ...AT, name: "Typed" }, { "sec-fetch-site": "cross-site" })
  assert.deepStrictEqual([foreign.status, foreign.headers.getSetCookie()], [403, []])
  const elsewhere = await who.post(CHANGE, { form_at: "//evil.example/", name: "Typed" })
  assert.include(elsewhere.headers.get("location"), "?to=%2Fconsole%2Fsources%2F1&")
})

it("the screen after an act says once that it was done, and can undo it", async () => {
  const { who } = await editor("Barbara")
  await who.post("/console/sources/1/archive", {})
  assert.notInclude((await who.get("/console/sources")).text, "The source is off.")
  const shown = (await who.get("/console/sources/1")).text
  assert.include(shown, "The source is off. Its intake address accepts nothing.")
  assert.match(shown, /action="\/data\/console\/sources\/1\/restore"[^]*?<button>Undo<\/button>/)
  assert.notInclude((await who.get("/console/sources/1")).text, "The source is off.")
  await who.post("/console/sources/1/restore", {})
  assert.include((await who.get("/console/sources/1")).text, "The source is on.")
  await who.post("/console/events/trash", { event: "1.1" })
  const trashed = (await who.get("/console/events")).text
  assert.include(trashed, "The selected events are in the trash.")
  assert.match(trashed, /action="\/data\/console\/events\/restore"[^]*?name="event" value="1.1"[^]*?Undo/)
  const refused = await who.post("/console/events/trash", {})
  assert.strictEqual(refused.status, 400)
  assert.notInclude((await who.get("/console/events")).text, "in the trash.")
})

it("a refused form shows its screen again, with the status and the code of the API", async () => {
  const refused = await owner.post(CHANGE, { ...AT, name: "x".repeat(300), thanks_url: "https://typed.example/" })
  assert.strictEqual(refused.status, 400)
  assert.include(refused.text, "<code>bad_name</code>")
  assert.match(refused.text, /name="thanks_url"[^>]*value="https:\/\/typed.example\/"/)
  const missing = await owner.post("/console/sources/999/change", { form_at: "/console/sources/999", name: "x" })
  assert.strictEqual(missing.status, 404)
})

const upload = (fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>>) => {
  const body = new FormData()
  for (const [name, value] of Object.entries({ source_id: "1", ...fields })) body.set(name, value)
  body.set("file", new File(["a,b\n1,2\n"], "list.csv"))
  return fetch(`${cabinet.base}/console/files`, { method: "POST", headers, body })
}

it("a refused upload says why at its field, and a script gets only the reason", async () => {
  const headers = { ...(await cabinet.as("owner")), "sec-fetch-site": "same-origin" }
  const whole = await upload({ header_row: "0" }, headers)
  assert.strictEqual(whole.status, 400)
  assert.match(await whole.text(), /<p class="wrong"[^>]*>The header&#39;s row must be a number from 1\./)
  const part = await upload({ header_row: "0" }, { ...headers, "x-fragment": "1" })
  assert.strictEqual(part.status, 400)
  const text = await part.text()
  assert.match(text, /^<div class="box error" role="alert">[^]*must be a number from 1\.[^]*<code>bad_option<\/code>/)
  assert.notMatch(text, /<main|<h1|class="button"/)
})
