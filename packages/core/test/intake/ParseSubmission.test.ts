import { assert, it } from "@effect/vitest"
import iconv from "iconv-lite"
import { describe } from "vitest"
import { jsonText } from "../../src/json/JsonText.ts"
import { parseSubmission } from "../../src/intake/ParseSubmission.ts"
import type { Submission } from "../../src/intake/Submission.ts"

const JSON_TYPE = "application/json"
const FORM = "application/x-www-form-urlencoded"
const MULTIPART = "multipart/form-data; boundary=X"

const parse = (contentType: string | undefined, body: string | Buffer, rest: Partial<Submission> = {}) =>
  parseSubmission({ body: Buffer.from(body as string), contentType, query: "", encoding: null, ...rest })
const payloads = (parsed: ReturnType<typeof parse>) => parsed.events.map(({ payload }) => jsonText(payload))
const only = (...args: Parameters<typeof parse>) => {
  const parsed = parse(...args)
  assert.strictEqual(parsed.events.length, 1)
  return jsonText(parsed.events[0]!.payload)
}
const win1251 = (text: string) => iconv.encode(text, "win1251")
const percent = (bytes: Buffer) => [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")

const batch = (count: number) => `[${Array(count).fill('{"a":1}').join(",")}]`

const print = (...args: Parameters<typeof parse>) => parse(...args).events[0]!.fingerprint

describe("parseSubmission of JSON", () => {
  it("parseSubmission turns an object into one event, every token as sent", () => {
    const parsed = parse(JSON_TYPE, ' {"b":1.00,"a":12345678901234567890,"b2":{"z":1e400}} ')
    assert.deepStrictEqual(payloads(parsed), ['{"b":1.00,"a":12345678901234567890,"b2":{"z":1e400}}'])
    assert.deepInclude(parsed, { shape: "object", refusal: null, tooMany: null, isForm: false })
    assert.deepStrictEqual(parsed.charset, { name: "utf-8", decidedBy: "json", replaced: 0 })
  })
  it("parseSubmission turns a list of objects into a batch, with the query's fields in each", () => {
    const parsed = parse("application/vnd.x+json", '[{"a":1},{},{"q":2}]', { query: "q=1" })
    assert.strictEqual(parsed.shape, "batch")
    assert.deepStrictEqual(payloads(parsed), ['{"q":"1","a":1}', '{"q":"1"}', '{"q":["1",2]}'])
    assert.deepStrictEqual(
      parse(JSON_TYPE, "[{},{}]").events.map(({ empty }) => empty),
      [true, true],
    )
  })
  it("parseSubmission accepts 100 objects and refuses 101", () => {
    assert.strictEqual(parse(JSON_TYPE, batch(100)).events.length, 100)
    const parsed = parse(JSON_TYPE, batch(101))
    assert.deepStrictEqual([parsed.events, parsed.tooMany], [[], { count: 101, limit: 100 }])
  })
  it.for([
    ["[]", "[]", "a list of objects was expected, but it is empty, at line 1, column 1 (offset 0)"],
    ["[{},\n 5]", "[{},5]", "a list of objects was expected, but item 2 is a number, at line 2, column 2 (offset 6)"],
    [
      "\uFEFF[{},\n true]",
      "[{},true]",
      "a list of objects was expected, but item 2 is true, at line 2, column 2 (offset 6)",
    ],
    ["[[]]", "[[]]", "a list of objects was expected, but item 1 is a list, at line 1, column 2 (offset 1)"],
    [' "x"', '"x"', "an object or a list of objects was expected, but this is text, at line 1, column 2 (offset 1)"],
    [
      "\uFEFFnull",
      "null",
      "an object or a list of objects was expected, but this is null, at line 1, column 1 (offset 0)",
    ],
    [
      "false",
      "false",
      "an object or a list of objects was expected, but this is false, at line 1, column 1 (offset 0)",
    ],
  ] as const)("parseSubmission keeps %j as a value and refuses it", ([body, value, detail]) => {
    const parsed = parse(JSON_TYPE, body)
    assert.deepStrictEqual(payloads(parsed), [`{"_value":${value},"_parse_error":${JSON.stringify(detail)}}`])
    assert.deepStrictEqual(parsed.refusal, { error: "not_an_object", detail })
    assert.isTrue(parsed.events[0]!.empty)
  })
  it("parseSubmission keeps invalid JSON as text, with the error and its position", () => {
    const parsed = parse(JSON_TYPE, '{"a":1,\n"b"\0}')
    const detail = "not valid JSON: a colon after the key was expected, found U+FFFD, at line 2, column 4 (offset 11)"
    assert.deepStrictEqual(payloads(parsed), [JSON.stringify({ _raw: '{"a":1,\n"b"\uFFFD}', _parse_error: detail })])
    assert.deepStrictEqual(parsed.refusal, { error: "bad_json", detail })
    assert.isTrue(parsed.events[0]!.empty)
    assert.strictEqual(parsed.charset.replaced, 1)
  })
  it.for([
    ["{", /^\{"from":"shop","_raw":"\{","_parse_error":/],
    ["5", /^\{"from":"shop","_value":5,"_parse_error":/],
    ["[]", /^\{"from":"shop","_value":\[\],"_parse_error":/],
    ['[{"a":1},2]', /^\{"from":"shop","_value":\[\{"a":1\},2\],"_parse_error":/],
  ] as const)(
    "parseSubmission keeps the address's fields beside a refused %s, and the event is empty",
    ([body, kept]) => {
      const parsed = parse(JSON_TYPE, body, { query: "from=shop" })
      assert.isTrue(parsed.events[0]!.empty)
      assert.match(payloads(parsed)[0]!, kept)
    },
  )
  it.for([JSON_TYPE, undefined, "text/plain", FORM])(
    "parseSubmission under %s reads a raw zero byte in a string as U+FFFD, and counts it",
    (contentType) => {
      const parsed = parse(contentType, '{"a":"x\0y","\0":"\0\0"}')
      assert.deepStrictEqual(payloads(parsed), ['{"a":"x\uFFFDy","\uFFFD":"\uFFFD\uFFFD"}'])
      assert.deepInclude(parsed, { refusal: null, shape: "object" })
      assert.strictEqual(parsed.charset.replaced, 4)
    },
  )
  it("parseSubmission keeps keys apart that become equal by a zero byte, raw or escaped", () => {
    assert.strictEqual(only(JSON_TYPE, '{"k\0":1,"k\\u0000":2}'), '{"k\uFFFD":1,"k\uFFFD2":2}')
  })
  it("parseSubmission reads JSON as UTF-8, whatever the source says, and whatever the header says of UTF-8", () => {
    const rest = { encoding: "windows-1251" } as const
    assert.strictEqual(only("application/json; charset=windows-1251", '{"a":"д"}', rest), '{"a":"д"}')
    const parsed = parse(JSON_TYPE, win1251('{"a":"да"}'), rest)
    assert.deepStrictEqual(payloads(parsed), ['{"a":"\uFFFD\uFFFD"}'])
    assert.deepStrictEqual(parsed.charset, { name: "utf-8", decidedBy: "json", replaced: 2 })
  })
  it("parseSubmission counts the escapes and bytes that it replaced", () => {
    assert.strictEqual(
      parse(JSON_TYPE, Buffer.from([...Buffer.from('{"a":"\\u0000\\ud800'), 0xff, ...Buffer.from('"}')])).charset
        .replaced,
      3,
    )
  })
  it("parseSubmission skips a byte order mark", () => assert.strictEqual(only(JSON_TYPE, '\uFEFF{"a":1}'), '{"a":1}'))
})

describe("parseSubmission of forms", () => {
  it("parseSubmission turns a form into one event, repeated fields as lists, query values first", () => {
    const parsed = parse(FORM, "tags[]=a&x=&tags[]=b", { query: "x=1&tags[]=q&utm=%D0%B6" })
    assert.deepStrictEqual(payloads(parsed), ['{"x":["1",""],"tags[]":["q","a","b"],"utm":"ж"}'])
    assert.isTrue(parsed.isForm)
  })
  it.for(["", "a=", "a=+&b=%09", "_charset_=utf-8", "_raw=x&_value=y&_parse_error=z"])(
    "parseSubmission treats the form %j as empty",
    (body) => assert.isTrue(parse(FORM, body).events[0]!.empty),
  )
  it("parseSubmission keeps a sender's own fields as sent when they have the service's names", () => {
    assert.strictEqual(only(FORM, "_raw=x&_raw=y&a=1"), '{"_raw":["x","y"],"a":"1"}')
  })
  it("parseSubmission decodes undeclared windows-1251, raw and escaped, in names, values and query", () => {
    for (const body of [
      win1251("имя=Иван&город=Нижний Новгород"),
      Buffer.from(
        `${percent(win1251("имя"))}=${percent(win1251("Иван"))}&${percent(win1251("город"))}=${percent(win1251("Нижний Новгород"))}`,
      ),
    ]) {
      const parsed = parse(FORM, body, { query: `ref=${percent(win1251("сайт"))}` })
      assert.deepStrictEqual(payloads(parsed), ['{"ref":"сайт","имя":"Иван","город":"Нижний Новгород"}'])
      assert.deepStrictEqual(parsed.charset, { name: "windows-1251", decidedBy: "data", replaced: 0 })
    }
  })
  it("parseSubmission counts replacements in the query and in the body", () => {
    const parsed = parse(FORM, "a=%00", { query: "b=%00&c=%FF", encoding: "utf-8" })
    assert.deepStrictEqual(payloads(parsed), ['{"b":"\uFFFD","c":"\uFFFD","a":"\uFFFD"}'])
    assert.strictEqual(parsed.charset.replaced, 3)
  })
  it("parseSubmission decodes the query of a windows-1251 form as UTF-8 where it is valid", () => {
    assert.strictEqual(only(FORM, win1251("имя=Иван"), { query: "utm=%D0%B6" }), '{"utm":"ж","имя":"Иван"}')
  })
  it("parseSubmission takes the charset from source, header, _charset_ and data, in this order", () => {
    const body = Buffer.from("_charset_=windows-1252&a=%E4")
    const told = (contentType: string, encoding: Submission["encoding"]) => {
      const { charset, events } = parse(contentType, body, { encoding })
      return [charset.name, charset.decidedBy, events[0]!.payload.get("a")]
    }
    assert.deepStrictEqual(told(`${FORM}; charset=koi8-r`, "windows-1251"), ["windows-1251", "source", "д"])
    assert.deepStrictEqual(told(`${FORM}; charset=koi8-r`, null), ["koi8-r", "header", "Д"])
    assert.deepStrictEqual(told(`${FORM}; charset=unheard-of`, null), ["windows-1252", "charset_field", "ä"])
    assert.deepStrictEqual(parse(FORM, "_charset_=x&a=%E4").charset, {
      name: "windows-1251",
      decidedBy: "unclear",
      replaced: 0,
    })
    assert.deepStrictEqual(told(FORM, "utf-8"), ["utf-8", "source", "\uFFFD"])
    assert.deepStrictEqual(told(FORM, "latin-1"), ["windows-1252", "source", "ä"])
  })
  it("parseSubmission prefers the source's charset to a part's, and the part's to the header's", () => {
    const body = Buffer.concat([
      Buffer.from(
        '--X\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: text/plain; charset=koi8-r\r\n\r\n',
      ),
      Buffer.from([0xc4]),
      Buffer.from("\r\n--X--"),
    ])
    assert.strictEqual(only(`${MULTIPART}; charset=windows-1252`, body), '{"a":"д"}')
    assert.strictEqual(only(MULTIPART, body, { encoding: "latin-1" }), '{"a":"Ä"}')
  })
  it.for([
    ['form-data; name="имя"\r\n\r\n1', "windows-1251"],
    ['form-data; name="a"\r\n\r\nИван', "windows-1251"],
    ['form-data; name="a"; filename="отчёт"\r\n\r\n1', "windows-1251"],
    // What follows is read by its own charset, or by nobody.
    ['form-data; name="a"; filename="x"\r\n\r\nИван', "utf-8"],
    ['form-data; name="a"\r\nContent-Type: text/plain; charset=cp1251\r\n\r\nИван', "utf-8"],
    ["form-data; name=\"a\"; filename*=cp1251''отчёт\r\n\r\n1", "utf-8"],
    ["form-data; имя", "windows-1251"],
  ] as const)("parseSubmission guesses the charset of a form from its names and values: %j", ([part, charset]) => {
    const { name, decidedBy } = parse(MULTIPART, win1251(`--X\r\nContent-Disposition: ${part}\r\n--X--`)).charset
    assert.deepStrictEqual([name, decidedBy], [charset, "data"])
  })
  it("parseSubmission takes the charset from the first _charset_ that names one, and from no other field", () => {
    const charset = (body: string) => parse(FORM, body).charset.name
    assert.strictEqual(charset("_charset_=x&_charset_=koi8-r&a=%C4"), "koi8-r")
    assert.strictEqual(charset("_charset.=koi8-r&a=%C4"), "windows-1251")
    assert.strictEqual(charset("__charset_=koi8-r&a=%C4"), "windows-1251")
  })
  it("parseSubmission reads a query that is not UTF-8 by the charset of the body's form, unless that is UTF-8", () => {
    const query = { query: "q=%C4%E0" }
    assert.strictEqual(only(`${FORM}; charset=koi8-r`, "a=1", query), '{"q":"дЮ","a":"1"}')
    assert.strictEqual(only(`${FORM}; charset=utf-8`, "a=1", query), '{"q":"Да","a":"1"}')
    assert.strictEqual(only("application/json; charset=koi8-r", '{"a":1}', query), '{"q":"Да","a":1}')
    assert.match(only("multipart/form-data; charset=koi8-r", "x", query), /^\{"q":"дЮ","_raw":"x"/)
  })
  it("parseSubmission counts what it replaced in the rest of a truncated form and in undeclared JSON", () => {
    const truncated = '--X\r\nContent-Disposition: form-data; name="a"\r\n\r\n\0\r\n--X\r\nContent-Dispo\0'
    assert.strictEqual(parse(MULTIPART, truncated).charset.replaced, 2)
    assert.strictEqual(parse("text/plain", '{"a":"\\u0000\0"}').charset.replaced, 2)
  })
  it("parseSubmission keeps a form without a readable boundary as text in one event, without a refusal", () => {
    const parsed = parse("multipart/form-data", "a=1")
    assert.deepStrictEqual(payloads(parsed), [
      '{"_raw":"a=1","_parse_error":"not a readable form: the content type names no boundary, at byte 0 of the body"}',
    ])
    assert.isNull(parsed.refusal)
    assert.isTrue(parsed.isForm && parsed.events[0]!.empty)
  })
  it("parseSubmission keeps the parsed fields of a truncated form, and the rest as text", () => {
    assert.strictEqual(
      only(MULTIPART, '--X\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--X\r\nContent-Dispo'),
      '{"a":"1","_raw":"Content-Dispo","_parse_error":"not a readable form: the headers of a part do not end with an empty line, at byte 57 of the body"}',
    )
  })
  it("parseSubmission keeps a form of 500,000 fields whole, as text", () => {
    for (const body of ["a&".repeat(500_000), "&=".repeat(500_000), "%61&".repeat(250_000)]) {
      const { payload, empty } = parse(FORM, body).events[0]!
      assert.deepStrictEqual([...payload.keys()], ["_raw", "_parse_error"])
      assert.strictEqual(payload.get("_raw"), body)
      assert.isTrue(empty)
    }
    const { payload } = parse(FORM, Array.from({ length: 10_000 }, (_, at) => `f${at}=1`).join("&")).events[0]!
    assert.strictEqual(payload.size, 10_000)
  })

  it("parseSubmission keeps a query of more than 10,000 fields whole, as text, in addition to the body's fields", () => {
    const query = "%61&".repeat(10_001)
    const reason = "more than 10000 form fields, at byte 40000 of the URL's query string"
    const beside = parse(FORM, "b=1", { query }).events[0]!
    assert.deepStrictEqual(
      [...beside.payload],
      [
        ["_raw", query],
        ["_parse_error", reason],
        ["b", "1"],
      ],
    )
    assert.isFalse(beside.empty)
    const alone = parse(FORM, "", { query }).events[0]!
    assert.isTrue(alone.empty)
    assert.deepStrictEqual(parse(JSON_TYPE, "{", { query }).events[0]!.payload.get("_raw"), [query, "{"])
    assert.strictEqual(parse(FORM, "", { query: query.slice(4) }).events[0]!.payload.size, 1)
  })

  it("parseSubmission parses a JSON object under a form's content type, as curl -d sends it", () => {
    const parsed = parse(FORM, '{"a":"x=1&y","n":1.0}')
    assert.deepStrictEqual(payloads(parsed), ['{"a":"x=1&y","n":1.0}'])
    assert.deepInclude(parsed, { isForm: true, shape: "object" })
  })
  it.for(["\n", " ", "\t\r\n ", "\uFEFF", "\uFEFF\n"])(
    "parseSubmission parses JSON under a form's content type when %j stands before it",
    (before) => {
      assert.strictEqual(only(FORM, `${before}{"a": "x"}\n`), '{"a":"x"}')
      assert.match(only(FORM, `${before}[1, 2]`), /^\{"_value":\[1,2\],/)
    },
  )
  it.for(["[]", "[1]", '[{"a":1}]', '[{"a":1},{"b":2}]'])(
    "parseSubmission keeps the list %s under a form's content type as a value, never as a field's name",
    (body) => {
      const parsed = parse(FORM, body)
      assert.deepInclude(parsed, { refusal: null, shape: "object" })
      assert.isTrue(payloads(parsed)[0]!.startsWith(`{"_value":${body},"_parse_error":"`))
    },
  )
  it.for(['{"a":"x=1', '{"url":"x?a=b&c=d",}', '{"a":1}\n{"a":2}', '[{"a":1},]', '\uFEFF{ "a": 1, b: 2}'])(
    "parseSubmission keeps the broken JSON %j under a form's content type as text, never as fields",
    (body) => {
      const { events, refusal } = parse(FORM, body)
      assert.deepStrictEqual([[...events[0]!.payload.keys()], refusal], [["_raw", "_parse_error"], null])
      assert.strictEqual(events[0]!.payload.get("_raw"), body)
    },
  )
  it.for([
    ["[a]=1&b=2", '{"[a]":"1","b":"2"}'],
    ["{a}=1", '{"{a}":"1"}'],
    ["\n[x", '{"\\n[x":""}'],
    ['"text"', '{"\\"text\\"":""}'],
    ["5", '{"5":""}'],
  ] as const)("parseSubmission parses the form %j as a form", ([body, payload]) =>
    assert.strictEqual(only(FORM, body), payload),
  )
})

describe("parseSubmission of other bodies", () => {
  it.for([
    ["windows-1251", "<a>Ёж</a>"],
    ["ISO-8859-2", "<a>Łódź</a>"],
    ["Shift_JIS", "<a>表示</a>"],
    ["utf-8", "<a>Łódź</a>"],
  ])("parseSubmission reads an XML document in the charset that it declares: %s", ([label, element]) => {
    const text = `<?xml version="1.0" encoding="${label}"?>${element}`
    const read = parse("application/xml", iconv.encode(text, label!))
    assert.strictEqual(read.events[0]!.payload.get("_raw"), text)
    // As a program does that forgets the declaration.
    assert.strictEqual(parse("application/xml", text).events[0]!.payload.get("_raw"), text)
  })
  it.for([undefined, "text/plain", "application/octet-stream", "nonsense", "text/plain; charset=windows-1251"])(
    "parseSubmission under %s tries JSON, then a form, then keeps text",
    (contentType) => {
      assert.strictEqual(only(contentType, ' {"a":1.0}'), '{"a":1.0}')
      assert.strictEqual(only(contentType, "a=1&b=%20"), '{"a":"1","b":" "}')
      assert.strictEqual(
        only(contentType, '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--b--'),
        '{"a":"1"}',
      )
      const parsed = parse(contentType, "hello = world")
      assert.strictEqual(parsed.events[0]!.empty, contentType === undefined)
      assert.deepInclude(parsed, { refusal: null, shape: "object", isForm: false })
      assert.deepStrictEqual(payloads(parsed), [
        '{"_raw":"hello = world","_parse_error":"neither a form nor JSON; not valid JSON: a value was expected, found \\"h\\", at line 1, column 1 (offset 0)"}',
      ])
    },
  )
  it.for(["[]", "[1]", '[{"a":1}]', "5", '"x"', "null"])(
    "parseSubmission keeps %s as a value, never as a batch",
    (body) => {
      for (const contentType of [undefined, "text/plain", "application/xml"]) {
        const parsed = parse(contentType, body)
        assert.deepInclude(parsed, { refusal: null, shape: "object", tooMany: null })
        assert.isTrue(parsed.events[0]!.empty)
        assert.match(payloads(parsed)[0]!, /^\{"_value":.*,"_parse_error":"/)
        assert.isTrue(payloads(parsed)[0]!.startsWith(`{"_value":${body},`))
      }
    },
  )
  it.for(["text/plain", "text/csv; header=present", "application/xml", "application/octet-stream", "nonsense"])(
    "parseSubmission counts the text of a body under %s as filled, unless it is white space",
    (contentType) => {
      const empty = (body: string, rest: Partial<Submission> = {}) => parse(contentType, body, rest).events[0]!.empty
      assert.isFalse(empty("<order id='7'/>"))
      assert.isFalse(empty('{"a":1'))
      assert.isFalse(empty("%61=1&".repeat(10_001)))
      assert.isTrue(empty(" \r\n\t\u00a0"))
      assert.isFalse(empty(" \n", { query: "a=1" }))
      // These are the sender's own fields, not those in which the service keeps an unreadable body.
      assert.isTrue(empty('{"_raw":"x","_parse_error":"y"}'))
      assert.isTrue(empty("_raw=x"))
      assert.isTrue(empty(" ", { query: "_raw=x" }))
    },
  )
  it.for([undefined, "", FORM, MULTIPART])(
    "parseSubmission treats a body of type %j that it keeps as text as empty",
    (contentType) => {
      const body = contentType === FORM ? "a&".repeat(10_001) : "some text"
      assert.isTrue(parse(contentType, body).events[0]!.empty)
    },
  )
  it("parseSubmission reads an HTML form of text/plain as its fields, in the form's charset", () => {
    assert.strictEqual(
      only("text/plain", "name=Ada Lovelace\r\nmessage=one\r\ntwo\r\n\r\ntags=a&b\r\ntags=x=y\r\nlast=\r\n"),
      '{"name":"Ada Lovelace","message":"one\\r\\ntwo\\r\\n","tags":["a&b","x=y"],"last":""}',
    )
    assert.isTrue(parse("text/plain", "name=\r\nmail=\r\n").events[0]!.empty)
    const parsed = parse("text/plain", win1251("имя=Иван Петров\r\nгород=Нижний\r\n"))
    assert.deepStrictEqual(payloads(parsed), ['{"имя":"Иван Петров","город":"Нижний"}'])
    assert.deepInclude(parsed, { isForm: false, refusal: null })
    // Only text/plain has such forms.
    assert.match(only("text/csv", "name=Ada Lovelace\r\n"), /^\{"_raw":/)
    assert.match(only(undefined, "name=Ada Lovelace\r\n"), /^\{"_raw":/)
  })
  it("parseSubmission reads text by the source, the header and the data", () => {
    const text = win1251("Привет, мир")
    assert.strictEqual(parse("text/plain", text).events[0]!.payload.get("_raw"), "Привет, мир")
    assert.strictEqual(parse("text/plain", text).charset.decidedBy, "data")
    assert.strictEqual(parse("text/plain; charset=cp1251", text).charset.decidedBy, "header")
    assert.strictEqual(parse("text/plain", text, { encoding: "utf-8" }).charset.replaced, 9)
  })
  it.for([JSON_TYPE, FORM, MULTIPART, "text/plain", undefined])(
    "parseSubmission turns an empty body under %s into an empty event",
    (contentType) => {
      const parsed = parse(contentType, "")
      assert.deepStrictEqual(payloads(parsed), ["{}"])
      assert.deepInclude(parsed, { refusal: null, shape: "object" })
      assert.isTrue(parsed.events[0]!.empty)
      const filled = parse(contentType, "", { query: "a=1&a=%CF%F0%E8" })
      assert.deepStrictEqual(payloads(filled), ['{"a":["1","При"]}'])
      assert.isFalse(filled.events[0]!.empty)
      assert.strictEqual(filled.charset.name, "windows-1251")
    },
  )
  it("parseSubmission decodes a query of raw bytes like one of Unicode characters", () => {
    assert.strictEqual(only(undefined, "", { query: Buffer.from("é=ж").toString("latin1") }), '{"é":"ж"}')
    assert.strictEqual(only(undefined, "", { query: "é=ж" }), '{"é":"ж"}')
  })
})

describe("parseSubmission's memory", () => {
  it("the memory covers the texts of the events, their fields and the cells of JSON", () => {
    assert.strictEqual(parse(FORM, "a=1").memory, 2 * 9 + 128)
    assert.strictEqual(parse(JSON_TYPE, '{"a":1}').memory, 2 * 7 + 128 + 7 * 64)
    assert.strictEqual(parse(JSON_TYPE, '{"a":1}', { query: "b=2" }).memory, 2 * 15 + 2 * 128 + 7 * 64)
    assert.strictEqual(parse(JSON_TYPE, '[{"a":1},{}]').memory, 2 * 7 + 128 + 2 * 2 + 12 * 64)
  })
})

describe("parseSubmission's fingerprint", () => {
  it("the fingerprint is the same for equal fields, however they were sent", () => {
    const same = [
      print(JSON_TYPE, '{"a":"1","b":["x","y"]}'),
      print(JSON_TYPE, ' { "b":["x","y"], "a":"1" }'),
      print(FORM, "b=x&a=1&b=y"),
      print(FORM, "b=y", { query: "a=1&b=x" }),
      print(undefined, "a=1&b=x&b=y"),
    ]
    assert.strictEqual(new Set(same).size, 1)
    assert.strictEqual(same[0]!.length, 64)
  })
  it("the fingerprint differs where a value, a token, the order of a list or broken text does", () => {
    const all = [
      print(JSON_TYPE, '{"a":1}'),
      print(JSON_TYPE, '{"a":1.0}'),
      print(JSON_TYPE, '{"a":"1"}'),
      print(JSON_TYPE, '{"a":[1,2]}'),
      print(JSON_TYPE, '{"a":[2,1]}'),
      print(JSON_TYPE, '{"a":'),
      print(JSON_TYPE, '{"a": '),
      print(JSON_TYPE, ""),
    ]
    assert.strictEqual(new Set(all).size, all.length)
  })
})
