/** A value in one charset never changes another value of its form. */
import { assert, it } from "@effect/vitest"
import iconv from "iconv-lite"
import { describe } from "vitest"
import { parseSubmission } from "../../src/intake/ParseSubmission.ts"
import type { SourceEncoding } from "../../src/source/SourceSettings.ts"
import { Random, Seed } from "../intake/Random.ts"

const FORM = "application/x-www-form-urlencoded"
const MULTIPART = "multipart/form-data; boundary=X"

/** Text in a charset: `[text, codec]`; plain text is UTF-8. */
type Sent = string | readonly [text: string, codec: string] | Buffer
const bytesOf = (sent: Sent): Buffer =>
  typeof sent === "string" ? Buffer.from(sent) : Buffer.isBuffer(sent) ? sent : iconv.encode(sent[0], sent[1])

type SentFields = ReadonlyArray<readonly [name: Sent, value: Sent]>

const percent = (sent: Sent): string =>
  [...bytesOf(sent)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")
const urlencoded = (fields: SentFields): string =>
  fields.map(([name, value]) => `${percent(name)}=${percent(value)}`).join("&")

interface Part {
  readonly name: Sent
  readonly value: Sent
  readonly type?: string
  readonly fileName?: Sent
}

const multipart = (parts: ReadonlyArray<Part>): Buffer =>
  Buffer.concat([
    ...parts.flatMap(({ name, value, type, fileName }) => [
      Buffer.from('--X\r\nContent-Disposition: form-data; name="'),
      bytesOf(name),
      ...(fileName === undefined ? [] : [Buffer.from('"; filename="'), bytesOf(fileName)]),
      Buffer.from(`"${type === undefined ? "" : `\r\nContent-Type: ${type}`}\r\n\r\n`),
      bytesOf(value),
      Buffer.from("\r\n"),
    ]),
    Buffer.from("--X--\r\n"),
  ])
const partsOf = (fields: SentFields): Buffer => multipart(fields.map(([name, value]) => ({ name, value })))

interface Rest {
  readonly query?: SentFields
  readonly encoding?: SourceEncoding
}

const parse = (body: string | Buffer, contentType: string, { query = [], encoding }: Rest = {}) =>
  parseSubmission({
    body: Buffer.from(body as string),
    contentType,
    query: urlencoded(query),
    encoding: encoding ?? null,
  })
const fieldsOf = (body: string | Buffer, contentType: string, rest?: Rest) => {
  const text = parse(body, contentType, rest).events[0]!.text
  return JSON.parse(text) as Readonly<Record<string, unknown>>
}

describe("parseSubmission of a form whose charset nothing declares", () => {
  const NOTE = "Добрый день, нужна консультация по доставке"

  it.for([
    ["koi8r", NOTE, "koi8-r"],
    ["koi8u", "Доброго дня, потрібна їхня консультація", "koi8-u"],
    ["cp866", NOTE, "ibm866"],
    ["maccyrillic", "Анна Яковлевна Юрьева, Москва, Тверская, дом 5; Илья Иванов, Ярославль", "x-mac-cyrillic"],
  ] as const)("reads a note in %s, and marks the guess as unclear", ([codec, text, name]) => {
    const body = urlencoded([["text", [text, codec]]])
    assert.deepStrictEqual(fieldsOf(body, FORM), { text })
    assert.deepInclude(parse(body, FORM).charset, { name, decidedBy: "unclear", replaced: 0 })
  })

  it.for([
    ["koi8r", "Анна"],
    ["shiftjis", "山田太郎"],
    ["gbk", "你好世界"],
    ["euckr", "김철수"],
  ] as const)("marks the guess as unclear for %s %j, in the body, the query and a text", ([codec, text]) => {
    const sent: SentFields = [["text", [text, codec]]]
    assert.strictEqual(parse(urlencoded(sent), FORM).charset.decidedBy, "unclear")
    assert.strictEqual(parse("", FORM, { query: sent }).charset.decidedBy, "unclear")
    assert.strictEqual(parse(partsOf(sent), MULTIPART).charset.decidedBy, "unclear")
    assert.strictEqual(parse(bytesOf([text, codec]), "text/plain").charset.decidedBy, "unclear")
  })

  it("does not doubt windows-1251", () => {
    const body = urlencoded([["text", [NOTE, "win1251"]]])
    assert.deepInclude(parse(body, FORM).charset, { name: "windows-1251", decidedBy: "data" })
  })
})

const ANNA = "Анна Петрова"
const [W1251, KOI8, L1] = ["win1251", "koi8r", "win1252"] as const

describe("a value that is UTF-8", () => {
  it.for([
    [
      "a text in windows-1251",
      [
        ["name", ANNA],
        ["text", ["Добрый день", W1251]],
      ],
      { text: "Добрый день" },
    ],
    [
      "a text in latin-1",
      [
        ["name", ANNA],
        ["text", ["Grüße aus München", L1]],
      ],
      { text: "Grüße aus München" },
    ],
    [
      "a field's name in windows-1251",
      [
        ["name", ANNA],
        [["имя", W1251], "1"],
      ],
      { имя: "1" },
    ],
    [
      "its own name in windows-1251",
      [
        ["name", ANNA],
        [["город", W1251], "Омск"],
      ],
      { город: "Омск" },
    ],
    [
      "a single legacy letter",
      [
        ["name", ANNA],
        ["x", ["д", W1251]],
      ],
      { x: "д" },
    ],
    [
      "ten legacy values",
      [["name", ANNA], ...Array.from({ length: 10 }, (_, n) => [`f${n}`, ["Москва", W1251]] as const)],
      { f9: "Москва" },
    ],
    [
      "plain values",
      [
        ["name", ANNA],
        ["a", "plain"],
        ["b", ["слово", W1251]],
      ],
      { a: "plain", b: "слово" },
    ],
    [
      "an emoji beside it",
      [
        ["name", ANNA],
        ["a", "😀"],
        ["b", ["слово", W1251]],
      ],
      { a: "😀", b: "слово" },
    ],
    [
      "a value that repeats its name",
      [
        ["name", ANNA],
        ["t", "ж"],
        ["t", ["слово", W1251]],
      ],
      { t: ["ж", "слово"] },
    ],
    [
      "a value that was cut off",
      [
        ["name", ANNA],
        ["cut", Buffer.from("Петрова").subarray(0, 9)],
      ],
      { cut: "Петр\uFFFD" },
    ],
  ] as ReadonlyArray<readonly [string, SentFields, Readonly<Record<string, unknown>>]>)(
    "parseSubmission keeps it unchanged beside %s",
    ([, fields, others]) => {
      for (const [body, type] of [
        [urlencoded(fields), FORM],
        [partsOf(fields), MULTIPART],
      ] as const) {
        const read = fieldsOf(body, type)
        assert.strictEqual(read["name"], ANNA)
        for (const [name, value] of Object.entries(others)) assert.deepStrictEqual(read[name], value)
      }
    },
  )

  it("parseSubmission keeps it beside a query in another charset, and keeps the query as well", () => {
    for (const [src, codec] of [
      ["Яндекс", W1251],
      ["Müller", L1],
    ] as const) {
      const rest = { query: [["src", [src, codec]]] } as const
      const expected = { src, name: ANNA }
      assert.deepStrictEqual(fieldsOf(urlencoded([["name", ANNA]]), FORM, rest), expected)
      assert.deepStrictEqual(fieldsOf(partsOf([["name", ANNA]]), MULTIPART, rest), expected)
      assert.deepStrictEqual(fieldsOf(JSON.stringify({ name: ANNA }), "application/json", rest), expected)
    }
  })

  it("parseSubmission reads a query that is clear by itself, and an unclear one in the charset of its form", () => {
    const western = urlencoded([["name", ["Grüße aus München", L1]]])
    assert.strictEqual(fieldsOf(western, FORM, { query: [["src", ["Яндекс", W1251]]] })["src"], "Яндекс")
    assert.strictEqual(fieldsOf(western, FORM, { query: [["src", ["Ä", L1]]] })["src"], "Ä")
    const cyrillic = urlencoded([["name", [ANNA, W1251]]])
    assert.strictEqual(fieldsOf(cyrillic, FORM, { query: [["src", ["Müller", L1]]] })["src"], "Müller")
    assert.strictEqual(fieldsOf(cyrillic, FORM, { query: [["src", "Яндекс"]] })["src"], "Яндекс")
  })

  it("parseSubmission adds the query's fields to every event of a batch as they are", () => {
    const query = [["src", ["Яндекс", W1251]]] as const
    const { events } = parse(JSON.stringify([{ a: ANNA }, { a: "é" }]), "application/json", { query })
    assert.deepStrictEqual(
      events.map(({ text }) => JSON.parse(text)),
      [
        { src: "Яндекс", a: ANNA },
        { src: "Яндекс", a: "é" },
      ],
    )
  })

  it("parseSubmission keeps it beside a file name in another charset, and reads that name", () => {
    const body = multipart([
      { name: "name", value: ANNA },
      { name: "f", value: "x", fileName: ["Договор.pdf", W1251], type: "application/pdf" },
    ])
    const read = fieldsOf(body, MULTIPART)
    assert.strictEqual(read["name"], ANNA)
    assert.strictEqual((read["f"] as { readonly name: string }).name, "Договор.pdf")
  })

  it("parseSubmission ignores file names when it decides the charset of fields", () => {
    // The letter alone is Cyrillic; the file's name is western.
    const body = multipart([
      { name: "x", value: Buffer.of(0xe4) },
      { name: "f", value: "", fileName: ["Grüße aus München.pdf", L1] },
    ])
    const read = fieldsOf(body, MULTIPART)
    assert.strictEqual(read["x"], "д")
    assert.strictEqual((read["f"] as { readonly name: string }).name, "Grüße aus München.pdf")
  })

  it("parseSubmission keeps it beside the binary content of a file", () => {
    const body = multipart([
      { name: "name", value: ANNA },
      { name: "f", value: Buffer.from([0, 255, 254, 200]), fileName: "Отчёт.bin" },
    ])
    const read = fieldsOf(body, MULTIPART)
    assert.strictEqual(read["name"], ANNA)
    assert.strictEqual((read["f"] as { readonly name: string }).name, "Отчёт.bin")
  })

  it("parseSubmission keeps it beside a part that declares another charset", () => {
    const body = multipart([
      { name: "subject", value: ANNA },
      { name: "text", value: ["Добрый день", KOI8], type: "text/plain; charset=KOI8_R" },
      { name: "note", value: ["слово", W1251] },
    ])
    assert.deepStrictEqual(fieldsOf(body, MULTIPART), { subject: ANNA, text: "Добрый день", note: "слово" })
  })

  it("parseSubmission reads the rest of a broken form separately", () => {
    const broken = Buffer.concat([partsOf([["name", ["слово", W1251]]]).subarray(0, -7), Buffer.from(`--X\r\n${ANNA}`)])
    const read = fieldsOf(broken, MULTIPART)
    assert.strictEqual(read["name"], "слово")
    assert.include(read["_raw"] as string, ANNA)
  })
})

describe("the fields charset and charsets", () => {
  it.for([
    ["KOI8_R", ANNA, KOI8],
    ["koi8-r", ANNA, KOI8],
    ["cp1251", ANNA, W1251],
    ["win-1251", ANNA, W1251],
    ["Windows-1251", ANNA, W1251],
    ["windows_1251", ANNA, W1251],
    ["windows-1250", "Łódź", "win1250"],
    ["windows-1252", "É", L1],
    ["latin-1", "Ö", L1],
    ["ISO8859_1", "Å", L1],
    ["ISO-8859-2", "Łukasz", "iso88592"],
    ["IBM866", ANNA, "cp866"],
    ["Shift_JIS", "山田", "shiftjis"],
    ["gb2312", "你好", "gb2312"],
    ["Big5", "漢字", "big5"],
    ["windows-1254", "Şükrü", "win1254"],
  ] as const)("parseSubmission reads values that are not UTF-8 by charset=%s", ([label, text, codec]) => {
    const fields: SentFields = [
      ["first_name", [text, codec]],
      ["note", "ж"],
      ["charset", label],
    ]
    for (const [body, type] of [
      [urlencoded(fields), FORM],
      [partsOf(fields), MULTIPART],
    ] as const) {
      assert.deepStrictEqual(fieldsOf(body, type), { first_name: text, note: "ж", charset: label })
      const { charset } = parse(body, type)
      assert.strictEqual(charset.decidedBy, "named_charset")
    }
  })

  it.for([
    ["utf-8", [ANNA, W1251], ANNA],
    ["unheard-of", [ANNA, W1251], ANNA],
    ["utf-16", [ANNA, W1251], ANNA],
    ["", [ANNA, W1251], ANNA],
    ["koi8-r", ANNA, ANNA],
    ["windows-1252", ANNA, ANNA],
    ["koi8-r", "plain", "plain"],
  ] as ReadonlyArray<readonly [string, Sent, string]>)(
    "parseSubmission ignores charset=%s where it says nothing about the bytes of %j",
    ([label, sent, text]) =>
      assert.strictEqual(
        fieldsOf(
          urlencoded([
            ["name", sent],
            ["charset", label],
          ]),
          FORM,
        )["name"],
        text,
      ),
  )

  it("parseSubmission reads accented letters alone by charset=windows-1252", () => {
    const fields: SentFields = [
      ["first_name", ["É", L1]],
      ["last_name", ["Ö", L1]],
      ["city", ["Å", L1]],
      ["charset", "windows-1252"],
    ]
    assert.deepInclude(fieldsOf(urlencoded(fields), FORM), { first_name: "É", last_name: "Ö", city: "Å" })
  })

  it("parseSubmission reads mail sent as a form by the charset of each field", () => {
    const charsets = '{"subject":"UTF-8","text":"koi8-r","html":"windows-1252","from":"no-such"}'
    const fields: SentFields = [
      ["subject", "Заявка с сайта"],
      ["text", ["Добрый день, нужна консультация", KOI8]],
      ["html", ["É", L1]],
      ["from", [ANNA, W1251]],
      ["charsets", charsets],
    ]
    assert.deepStrictEqual(fieldsOf(partsOf(fields), MULTIPART), {
      subject: "Заявка с сайта",
      text: "Добрый день, нужна консультация",
      html: "É",
      from: ANNA,
      charsets,
    })
  })

  it.for([
    "",
    "{",
    "[1]",
    '"koi8-r"',
    '{"name":1}',
    '{"name":null}',
    '{"other":"koi8-r"}',
    '{"name":"utf-8"}',
    `{"a":"${"x".repeat(20_000)}"}`,
  ])("parseSubmission guesses beside charsets of %s", (charsets) =>
    assert.strictEqual(
      fieldsOf(
        urlencoded([
          ["name", [ANNA, W1251]],
          ["charsets", charsets],
        ]),
        FORM,
      )["name"],
      ANNA,
    ),
  )

  it("parseSubmission prefers the source's setting, header, _charset_, part and charsets to charset", () => {
    const decided = (fields: SentFields, type = FORM, encoding?: SourceEncoding) => {
      const { charset, events } = parse(
        urlencoded([["a", Buffer.of(0xc4)], ...fields, ["charset", "windows-1252"]]),
        type,
        encoding === undefined ? {} : { encoding },
      )
      return [charset.decidedBy, events[0]!.payload.get("a")]
    }
    assert.deepStrictEqual(decided([], FORM, "windows-1251"), ["source", "Д"])
    assert.deepStrictEqual(decided([], `${FORM}; charset=cp866`), ["header", "─"])
    assert.deepStrictEqual(decided([["_charset_", "koi8-r"]]), ["charset_field", "д"])
    assert.deepStrictEqual(decided([["charsets", '{"a":"koi8-r"}']]), ["named_charset", "д"])
    assert.deepStrictEqual(decided([]), ["named_charset", "Ä"])
    const part = multipart([
      { name: "a", value: Buffer.of(0xc4), type: "text/plain; charset=koi8-r" },
      { name: "charset", value: "windows-1252" },
    ])
    assert.strictEqual(fieldsOf(part, MULTIPART)["a"], "д")
  })
})

describe("the verdict", () => {
  it("parseSubmission lists the values read in another charset than the request, and why", () => {
    const body = multipart([
      { name: "subject", value: ANNA },
      { name: "plain", value: "plain" },
      { name: "text", value: ["Добрый день", W1251] },
      { name: "part", value: ["слово", KOI8], type: "text/plain; charset=koi8-r" },
      { name: "f", value: "", fileName: "Отчёт.pdf" },
    ])
    assert.deepStrictEqual(parse(body, MULTIPART, { query: [["src", "ж"]] }).charset, {
      name: "windows-1251",
      decidedBy: "data",
      replaced: 0,
      others: [
        { name: "utf-8", decidedBy: "data", place: "body", fields: ["subject"], more: 0 },
        { name: "koi8-r", decidedBy: "part", place: "body", fields: ["part"], more: 0 },
        { name: "utf-8", decidedBy: "data", place: "file_name", fields: ["f"], more: 0 },
        { name: "utf-8", decidedBy: "data", place: "query", fields: ["src"], more: 0 },
      ],
    })
  })

  it("parseSubmission lists nothing for a form in one charset", () => {
    for (const codec of ["utf8", W1251]) {
      const body = urlencoded([
        ["имя", [ANNA, codec]],
        ["plain", "x"],
      ])
      assert.notProperty(parse(body, FORM, { query: [["q", "1"]] }).charset, "others")
    }
  })

  it("parseSubmission limits the length of the list", () => {
    const many = Array.from({ length: 50 }, (_, n) => [`${"n".repeat(200)}${n}`, "ж"] as const)
    const { others } = parse(urlencoded([...many, ["x", [ANNA, W1251]]]), FORM).charset
    assert.deepInclude(others![0], { name: "utf-8", more: 30 })
    assert.deepStrictEqual(
      others![0]!.fields,
      Array.from({ length: 20 }, () => "n".repeat(100)),
    )
  })
})

const UTF_8_LETTERS = [..."aZ 0éßИваныёЇ€漢😀\u2028"]
const LEGACY = [
  { codec: W1251, texts: ["Иван", "Привет всем", "д", "ЁЛКА", "№ 5"] },
  { codec: L1, texts: ["Müller", "Grüße", "é", "Ä", "£5"] },
  { codec: KOI8, texts: ["Иван", "Привет", "д"] },
  { codec: "shiftjis", texts: ["山田太郎", "日本"] },
]

describe("forms in several charsets", () => {
  it.prop(
    "parseSubmission stores every UTF-8 value as sent, whatever is beside it",
    [Seed],
    ([seed]) => {
      const random = new Random(seed)
      const legacy = (): Sent => {
        const { codec, texts } = random.pick(LEGACY)
        return [random.pick(texts), codec]
      }
      const utf8 = () => random.list(8, () => random.pick(UTF_8_LETTERS)).join("")
      const fields: Array<readonly [Sent, Sent]> = []
      const expected = new Map<string, string>()
      for (let n = 0; n < 8; n++) {
        if (random.below(2) === 0) fields.push([random.below(3) === 0 ? legacy() : `l${n}`, legacy()])
        else {
          const name = `u${n}${utf8()}`.replaceAll(/["\\%\r\n]/g, "")
          const value = utf8()
          expected.set(name, value)
          fields.push([name, value])
        }
      }
      if (random.below(4) === 0) fields.push(["charset", random.pick(["koi8-r", "windows-1252", "utf-8", "x"])])
      const asMultipart = random.below(2) === 0
      const parts: ReadonlyArray<Part> = [
        ...fields.map(([name, value]) => ({ name, value })),
        ...(random.below(2) === 0 ? [{ name: "file", value: Buffer.of(255, 0, 200), fileName: legacy() }] : []),
      ]
      const body = asMultipart ? multipart(parts) : urlencoded(fields)
      const rest = random.below(2) === 0 ? { query: [["q", legacy()]] as const } : {}
      const { payload } = parse(body, asMultipart ? MULTIPART : FORM, rest).events[0]!
      for (const [name, value] of expected) assert.strictEqual(payload.get(name), value, name)
    },
    { arbitrary: { runs: 2000 } },
  )
})
