/**
 * Rereading a request gives the event that it would have been, and does not touch anything that the bytes do not
 * explain.
 */
import iconv from "iconv-lite"
import { assert, expect, it } from "vitest"
import { gatherFields } from "../../src/intake/Fields.ts"
import { parseFormBody } from "../../src/form/FormBody.ts"
import { rereadCharsets } from "../../src/form/FormCharsets.ts"
import { decodeForm } from "../../src/form/FormText.ts"
import { parseSubmission } from "../../src/intake/ParseSubmission.ts"
import { type RereadAs, rereadOriginal } from "../../src/intake/RereadOriginal.ts"
import type { Submission } from "../../src/intake/Submission.ts"
import type { Json } from "../../src/json/Json.ts"
import { jsonText } from "../../src/json/JsonText.ts"
import { UTF_8, WINDOWS_1251, WINDOWS_1252 } from "../../src/text/Charset.ts"
import { Random } from "./Random.ts"

const FORM = "application/x-www-form-urlencoded"
const percent = (bytes: Buffer) => [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")
const win = (text: string) => percent(iconv.encode(text, "win1251"))
const utf8 = (text: string) => percent(Buffer.from(text))

const stored = (submission: Submission) => {
  const { events, charset } = parseSubmission(submission)
  const { body, contentType, query } = submission
  return {
    payload: events[0]!.payload,
    original: {
      body,
      bodyBytes: body.byteLength,
      contentType: contentType ?? null,
      query: query === "" ? null : query,
      charset: charset.name,
      charsetFrom: charset.decidedBy,
      others: charset.others ?? [],
    },
  }
}

const reread = ({ original, payload }: ReturnType<typeof stored>, as: RereadAs) => {
  const read = rereadOriginal(original, payload, as)
  if (typeof read === "string") throw new Error(read)
  return read
}

const CHARSETS = { "utf-8": UTF_8, "windows-1251": WINDOWS_1251, "latin-1": WINDOWS_1252 } as const
const ENCODINGS = ["utf-8", "windows-1251", "latin-1"] as const
const NAMES = ["name", "city", "tags[]", "n"]

const textOf = (random: Random) => random.list(8, () => random.pick([..."aZ 19абвжЯ№"])).join("")
const valueOf = (random: Random) => (random.below(2) === 0 ? win : utf8)(textOf(random))
const fieldsOf = (random: Random, names: ReadonlyArray<string>) => [
  [random.pick(names), valueOf(random)] as const,
  ...random.list(7, () => [random.pick(names), valueOf(random)] as const),
]
const headersOf = (random: Random) =>
  Object.fromEntries(random.list(2, () => [random.pick(["X-Shop", "name", "n"]), textOf(random)] as const))

/** Calls with many seeds; a failure names its seed. */
const forSeeds = (check: (random: Random) => void) => {
  for (let seed = 0; seed < 500; seed++) {
    try {
      check(new Random(seed))
    } catch (fault) {
      throw new Error(`seed ${seed}`, { cause: fault })
    }
  }
}

const submissionOf = (
  fields: ReadonlyArray<readonly [string, string]>,
  header: Record<string, string>,
): Submission => ({
  body: Buffer.from(fields.map(([name, one]) => `${name}=${one}`).join("&")),
  contentType: FORM,
  query: "",
  encoding: null,
  headerFields: new Map<string, Json>(Object.entries(header)),
})

it("rereadOriginal of all values gives the event that the source's setting would have produced", () => {
  forSeeds((random) => {
    const submission = submissionOf(fieldsOf(random, NAMES), headersOf(random))
    const [before, after] = [random.pick(ENCODINGS), random.pick(ENCODINGS)]
    const { original, payload } = stored({ ...submission, encoding: before })
    const read = rereadOriginal(original, payload, { charset: CHARSETS[after], allValues: true })
    if (read === "no_text") assert.notMatch(submission.body.toString(), /%[89a-f]/)
    else {
      const expected = parseSubmission({ ...submission, encoding: after }).events[0]!.text
      assert.strictEqual(typeof read === "string" ? read : read.text, expected)
    }
  })
})

it("rereadOriginal by value reads each value in the charset that the form implies, whatever was used before", () => {
  const names = [...NAMES, win("имя"), win("город")]
  const as = { charset: WINDOWS_1251, allValues: false }
  forSeeds((random) => {
    const submission = submissionOf([...fieldsOf(random, names), ["last", win("Жё")]], {})
    const form = parseFormBody(Buffer.from(submission.body))
    const expected = gatherFields(decodeForm(form, rereadCharsets(form, WINDOWS_1251, false)).fields)
    const { original, payload } = stored({ ...submission, encoding: random.pick(["windows-1251", "latin-1"]) })
    const read = reread({ original, payload }, as)
    assert.strictEqual(read.text, jsonText(expected))
    const { charset, charsetFrom, others } = read
    const again = reread(
      { payload: read.payload, original: { ...original, charset, charsetFrom, others: [...others] } },
      as,
    )
    assert.deepStrictEqual([again.changed, again.text], [[], read.text])
  })
})

it("rereadOriginal is total for any bytes beside any event", () => {
  const types = [FORM, "multipart/form-data; boundary=b", "text/plain", "application/json", null]
  forSeeds((random) => {
    const body = Buffer.from(random.list(60, () => random.pick([random.below(256), 38, 61, 45, 98, 13, 10])))
    const payload = new Map<string, Json>([[textOf(random), textOf(random)]])
    const original = { body, bodyBytes: body.length, query: null, charset: "utf-8", charsetFrom: "data" }
    const read = rereadOriginal({ ...original, contentType: random.pick(types) }, payload, {
      charset: WINDOWS_1251,
      allValues: random.below(2) === 0,
    })
    if (typeof read !== "string") assert.isAbove(read.payload.size, 0)
  })
})

it("rereadOriginal leaves query values in front when the query itself was not kept", () => {
  const submission: Submission = {
    body: Buffer.from(`name=${win("Анна")}`),
    contentType: FORM,
    query: `name=${win("Пётр")}&src=${win("Яндекс")}`,
    encoding: "latin-1",
  }
  const event = stored(submission)
  const as = { charset: WINDOWS_1251, allValues: false }
  expect(reread(event, as).text).toBe('{"name":["Пётр","Анна"],"src":"Яндекс"}')
  const unkept = { ...event, original: { ...event.original, query: null } }
  expect(reread(unkept, as).text).toBe('{"name":["Ï¸òð","Анна"],"src":"ßíäåêñ"}')
})

it("rereadOriginal reads the text of a body that is not a form, and the rest of a broken one", () => {
  const as = { charset: WINDOWS_1251, allValues: false }
  const body = iconv.encode("Привет всем", "win1251")
  const plain = stored({ body, contentType: "text/plain", query: "", encoding: "latin-1" })
  expect(plain.payload.get("_raw")).toBe("Ïðèâåò âñåì")
  expect(reread(plain, as).payload.get("_raw")).toBe("Привет всем")
  const broken = iconv.encode('--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nДа\r\n--b\r\nНет', "win1251")
  const cut = stored({ body: broken, contentType: "multipart/form-data; boundary=b", query: "", encoding: "latin-1" })
  const { payload } = reread(cut, as)
  expect([payload.get("a"), payload.get("_raw")]).toEqual(["Да", "Нет"])
  expect(payload.get("_parse_error")).toBe(cut.payload.get("_parse_error"))
})

it("a part's value that cannot be in the part's own charset is read in the named one", () => {
  const part = (name: string, bytes: Buffer) =>
    Buffer.concat([
      Buffer.from(
        `--b\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n`,
      ),
      bytes,
      Buffer.from("\r\n"),
    ])
  const body = Buffer.concat([
    part("a", iconv.encode("Анна", "win1251")),
    part("b", Buffer.from("Пётр")),
    Buffer.from("--b--\r\n"),
  ])
  const event = stored({ body, contentType: "multipart/form-data; boundary=b", query: "", encoding: null })
  expect(event.payload.get("a")).toMatch(/\uFFFD/)
  expect(reread(event, { charset: WINDOWS_1251, allValues: false }).text).toBe('{"a":"Анна","b":"Пётр"}')
})

const nestedSubmission = (body: string, encoding: "utf-8" | "windows-1251"): Submission => ({
  body: Buffer.from(body),
  contentType: FORM,
  query: "utm=x",
  encoding,
  nestBrackets: true,
})

it("rereadOriginal decodes a value that was kept in its transfer encoding", () => {
  const head = `--b\r\nContent-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n`
  const submission = { ...submissionOf([], {}), contentType: "multipart/form-data; boundary=b" }
  const { original } = stored({ ...submission, body: Buffer.from(`${head}=CF=F0=E8=E2=E5=F2\r\n--b\r\nrest`) })
  const payload = new Map([
    ["a", "=CF=F0=E8=E2=E5=F2"],
    ["_raw", "rest"],
  ])
  const read = reread({ original, payload }, { charset: WINDOWS_1251, allValues: false })
  assert.deepStrictEqual([...read.payload.values()], ["Привет", "rest"])
})

it("rereadOriginal corrects a nested event in place", () => {
  const body = `leads[add][0][name]=${win("Анна")}&n=1&leads[add][1][name]=${win("Ян")}&tags[]=${win("да")}&l[]=1&l[]=${win("б")}&a[${win("ключ")}]=2`
  const wrong = stored(nestedSubmission(body, "utf-8"))
  const right = stored(nestedSubmission(body, "windows-1251"))
  const read = reread(wrong, { charset: WINDOWS_1251, allValues: false })
  assert.strictEqual(read.text, jsonText(right.payload))
  expect(read.changed.map(({ field }) => field)).toEqual([
    "leads[add][0][name]",
    "leads[add][1][name]",
    "tags[]",
    "l[]",
    "a[ключ]",
  ])
})

it("rereadOriginal nests any form as intake would have read it", () => {
  const names = ["a[b]", "a[c][0]", "a[c][1]", "t[]", "a", "n", "x[y][z]", `x[${win("имя")}]`, "u[", "u[v]"]
  forSeeds((random) => {
    const body = fieldsOf(random, names)
      .map(([name, value]) => `${name}=${value}`)
      .join("&")
    const wrong = stored(nestedSubmission(body, "utf-8"))
    const right = stored(nestedSubmission(body, "windows-1251"))
    const read = rereadOriginal(wrong.original, wrong.payload, { charset: WINDOWS_1251, allValues: true })
    if (read !== "no_text") assert.strictEqual(typeof read === "string" ? read : read.text, jsonText(right.payload))
  })
})

it("rereadOriginal refuses a nested event that its bytes do not explain", () => {
  const { original, payload } = stored(nestedSubmission(`a[b]=${win("да")}&a[c]=1`, "utf-8"))
  const other = new Map(payload).set("a", new Map([...(payload.get("a") as ReadonlyMap<string, Json>), ["d", "2"]]))
  assert.strictEqual(rereadOriginal(original, other, { charset: WINDOWS_1251, allValues: false }), "unexplained")
})

const inJson = (body: Buffer, contentType: string | undefined, query = "", place = 0) => {
  const { events, charset } = parseSubmission({ body, contentType, query, encoding: null })
  const { name, decidedBy } = charset
  const kept = { body, bodyBytes: body.length, contentType: contentType ?? null, query: null }
  return { payload: events[place]!.payload, original: { ...kept, charset: name, charsetFrom: decidedBy, others: [] } }
}
const win1251 = (text: string) => iconv.encode(text, "win1251")
const AS_1251: RereadAs = { charset: WINDOWS_1251, allValues: false }

it("rereadOriginal reads the strings of JSON that are not UTF-8, and leaves the others", () => {
  const body = Buffer.concat([
    win1251('{"имя":"Пётр","list":["Ёж",1.00],"one":["я"],"n":1e400,"utf":"'),
    Buffer.from('Анна","e":"\\u0436"}'),
  ])
  for (const contentType of ["application/json", "application/x-www-form-urlencoded", undefined]) {
    const read = reread(inJson(body, contentType, "one=0&src=ad"), AS_1251)
    assert.strictEqual(
      read.text,
      '{"one":["0","я"],"src":"ad","имя":"Пётр","list":["Ёж",1.00],"n":1e400,"utf":"Анна","e":"ж"}',
    )
    assert.deepInclude(read, { charset: "windows-1251", charsetFrom: "reread", replaced: 0 })
    assert.deepStrictEqual(
      read.changed.map(({ field, after }) => [field, after]),
      [
        ["имя", "Пётр"],
        ["list", '["Ёж",1.00]'],
        ["one", '["0","я"]'],
      ],
    )
  }
})

it("rereadOriginal reads JSON again that was read by its header or in an earlier rereading", () => {
  const first = inJson(win1251('{"name":"Анна"}'), "application/json; charset=koi8-r")
  assert.strictEqual(jsonText(first.payload), '{"name":"юММЮ"}')
  const right = reread(first, AS_1251)
  assert.strictEqual(right.text, '{"name":"Анна"}')
  const { charset, charsetFrom } = right
  const again = reread({ payload: right.payload, original: { ...first.original, charset, charsetFrom } }, AS_1251)
  assert.deepStrictEqual(again.changed, [])
})

it("rereadOriginal finds an event's object in a batch, unless two of them were read alike", () => {
  const batch = win1251('[{"n":1,"name":"Анна"},{"n":2,"name":"Инна"},{"name":"Анна"},{"name":"Инна"}]')
  const lines = win1251('{"n":1,"name":"Анна"}\n{"n":2,"name":"Инна"}\n')
  const second = '{"n":2,"name":"Инна"}'
  assert.strictEqual(reread(inJson(batch, "application/json", "", 1), AS_1251).text, second)
  assert.strictEqual(reread(inJson(lines, "application/x-ndjson", "", 1), AS_1251).text, second)
  const { original, payload } = inJson(batch, "application/json", "", 3)
  assert.strictEqual(rereadOriginal(original, payload, AS_1251), "unexplained")
})

it("rereadOriginal refuses JSON that shows its charset, that has only ASCII, or that is not the event's", () => {
  const refusal = ({ original, payload }: ReturnType<typeof inJson>) => rereadOriginal(original, payload, AS_1251)
  assert.strictEqual(refusal(inJson(Buffer.from('{"name":"Анна"}'), "application/json")), "not_a_form")
  assert.strictEqual(refusal(inJson(iconv.encode('{"a":"я"}', "utf-16le"), "application/json")), "not_a_form")
  assert.strictEqual(refusal(inJson(Buffer.from('{"name":"Ann"}'), "application/json")), "no_text")
  const { original } = inJson(win1251('{"name":"Анна"}'), "application/json")
  assert.strictEqual(rereadOriginal(original, new Map([["name", "x"]]), AS_1251), "unexplained")
  const raw = inJson(win1251('{"name":"Анна"'), "application/json")
  assert.strictEqual(reread(raw, AS_1251).payload.get("_raw"), '{"name":"Анна"')
})
