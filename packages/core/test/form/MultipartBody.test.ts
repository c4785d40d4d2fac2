import { assert, it } from "@effect/vitest"
import busboy from "busboy"
import iconv from "iconv-lite"
import { Effect } from "effect"
import { describe } from "vitest"
import { jsonText } from "../../src/json/JsonText.ts"
import { UTF_8, WINDOWS_1251 } from "../../src/text/Charset.ts"
import { uniformCharsets } from "../../src/form/FormCharsets.ts"
import { decodeForm } from "../../src/form/FormText.ts"
import { boundaryInBody, parseMultipartBody } from "../../src/form/MultipartBody.ts"
import { Random, Seed } from "../intake/Random.ts"

const part = (headers: string, content: string, newline = "\r\n") =>
  `--X${newline}${headers}${newline}${newline}${content}${newline}`
const named = (name: string, content: string) => part(`Content-Disposition: form-data; name="${name}"`, content)
const read = (body: string | Buffer, boundary: string | null = "X", charset = UTF_8) => {
  const form = parseMultipartBody(Buffer.from(body as string), boundary)
  const charsets = uniformCharsets({ charset, decidedBy: "header" }, true)
  const fields = decodeForm(form, charsets).fields.map(([name, value]) => [
    name,
    typeof value === "string" ? value : JSON.parse(jsonText(value)),
  ])
  return form.unread === null ? fields : { fields, unread: form.unread }
}

type Seen = ReadonlyArray<readonly [string, unknown]>

/** Busboy returns no name if the name is empty. */
const throughBusboy = (body: Buffer): Promise<Seen> =>
  new Promise((resolve, reject) => {
    const seen: Array<[string, unknown]> = []
    const parser = busboy({
      headers: { "content-type": "multipart/form-data; boundary=X" },
      defParamCharset: "utf8",
      preservePath: true,
    })
    parser.on("field", (name: string | undefined, value) => seen.push([name ?? "", value]))
    parser.on("file", (name: string | undefined, stream, { filename, mimeType }) => {
      const entry: [string, { name: string; type: string; size: number }] = [
        name ?? "",
        { name: filename ?? "", type: mimeType, size: 0 },
      ]
      seen.push(entry)
      stream.on("data", (chunk: Buffer) => (entry[1].size += chunk.length))
    })
    parser.on("close", () => resolve(seen))
    parser.on("error", reject)
    parser.end(body)
  })

const file = (headers: string, content: string) => part(`Content-Disposition: form-data; name="f"; ${headers}`, content)

describe("parseMultipartBody", () => {
  it.effect.prop(
    "parseMultipartBody agrees with busboy on well-formed bodies",
    [Seed],
    ([seed]) =>
      Effect.promise(async () => {
        const random = new Random(seed)
        const text = () =>
          random
            .list(4, () => random.pick(["a", "имя", " ", "-", "--", "\r\n", "--X", "\r\n--", "=", "😀", "\r", "\n"]))
            .join("")
        const name = () => random.list(3, () => random.pick(["a", "поле", "[]", "; ", "=", "'", "x y"])).join("")
        const parts = random.list(5, () => {
          const content = text().replaceAll(/(^|\r\n)--X/g, "$1-X")
          return random.below(3) === 0
            ? part(
                `content-disposition: form-data; name="${name()}"; filename="f${name()}"\r\nContent-Type: text/plain`,
                content,
              )
            : named(name(), content)
        })
        const body = Buffer.from(`${parts.join("")}--X--\r\n`)
        assert.deepStrictEqual(
          read(body) as unknown as Seen,
          await throughBusboy(body),
          JSON.stringify(body.toString()),
        )
      }),
    { arbitrary: { runs: 400 } },
  )

  it("parseMultipartBody reads a file as its name, type and size in bytes, a blank file input as an empty field", () => {
    assert.deepStrictEqual(
      read(
        file('filename="отчёт.pdf"\r\nContent-Type: application/pdf', "дд") +
          file('filename="none"', "") +
          file('filename=""\r\nContent-Type: application/octet-stream', "") +
          file('filename=""', "x") +
          "--X--",
      ),
      [
        ["f", { name: "отчёт.pdf", type: "application/pdf", size: 4 }],
        ["f", { name: "none", type: "application/octet-stream", size: 0 }],
        ["f", ""],
        ["f", { name: "", type: "application/octet-stream", size: 1 }],
      ],
    )
  })

  it("parseMultipartBody keeps the last field of a body without its final boundary, wherever it is cut", () => {
    const whole = named("a", "1") + named("b", "hello")
    for (const end of ["", "--", "--X", "--X-", "--X--", "--X--\r\nepilogue"]) {
      assert.deepStrictEqual(
        read(whole + end),
        [
          ["a", "1"],
          ["b", "hello"],
        ],
        end,
      )
    }
    assert.deepStrictEqual(read(whole.slice(0, -2)), [
      ["a", "1"],
      ["b", "hello"],
    ])
  })

  it("parseMultipartBody returns what it cannot read to the caller, with its position", () => {
    assert.deepStrictEqual(read(`${named("a", "1")}--X\r\nContent-Disposition: form-data; na`), {
      fields: [["a", "1"]],
      unread: { reason: "the headers of a part do not end with an empty line", offset: 57, from: 57, to: 91 },
    })
    assert.deepStrictEqual(read("nothing here"), {
      fields: [],
      unread: { reason: "no part begins with the boundary of the header", offset: 0, from: 0, to: 12 },
    })
    assert.deepStrictEqual(read("x", null), {
      fields: [],
      unread: { reason: "the content type names no boundary", offset: 0, from: 0, to: 1 },
    })
  })

  it("parseMultipartBody finds the boundary in the body when the header has none or a wrong one", () => {
    const body = `${named("a", "1")}--X--`
    assert.deepStrictEqual(read(body, null), [["a", "1"]])
    assert.deepStrictEqual(read(body, "other"), [["a", "1"]])
  })

  it("parseMultipartBody reads bodies whose lines end with \\n alone", () => {
    assert.deepStrictEqual(read(`${part('Content-Disposition: form-data; name="a"', "1\r\n2", "\n")}--X--\n`), [
      ["a", "1\r\n2"],
    ])
  })

  it.for([
    ['form-data; name="a%22b%0D%0Ac%41"', 'a"b\r\nc%41'],
    ['form-data; name="a\\"b\\\\c\\d"', 'a"b\\c\\d'],
    ["form-data; name=plain", "plain"],
    ['FORM-DATA ; x=";" ; NAME = "a;b"', "a;b"],
    ["form-data", ""],
    ['form-data;\r\n name="folded"', "folded"],
    ['form-data; name="unclosed', "unclosed"],
    ['form-data; name="first"; name="second"', "first"],
  ] as const)("parseMultipartBody reads the name of %j", ([disposition, name]) =>
    assert.deepStrictEqual(read(`${part(`Content-Disposition: ${disposition}`, "v")}--X--`), [[name, "v"]]),
  )

  it.for([
    ["filename*=UTF-8''%D0%BE.txt", "о.txt"],
    ["filename=\"x\"; filename*=windows-1251''%EE.txt", "о.txt"],
    ["filename*=koi8-r'ru'%CF.txt; filename=\"x\"", "о.txt"],
    ["filename*=nobody-knows''%D0%BE", "о"],
    ["filename*=bare", "bare"],
    ['filename="C:\\dir\\"', "C:\\dir\\"],
    ["filename*=UTF-8''%41%4", "A%4"],
    ["filename*=UTF-8''a%", "a%"],
    ["filename*=UTF-8''%zz%41", "%zzA"],
    ["filename*=UTF-8''a'b", "a'b"],
  ] as const)("parseMultipartBody reads the file name of %j", ([param, name]) => {
    const fields = read(`${part(`Content-Disposition: form-data; name="f"; ${param}`, "v")}--X--`) as unknown as Seen
    assert.deepStrictEqual((fields[0]![1] as { name: string }).name, name)
  })

  it("parseMultipartBody reads a part by its own charset and names by the form's", () => {
    const body = Buffer.concat([
      iconv.encode(
        part('Content-Disposition: form-data; name="имя"\r\nContent-Type: text/plain; charset=windows-1251', "Иван"),
        "win1251",
      ),
      iconv.encode(
        '--X\r\nContent-Disposition: form-data; name="к"\r\nContent-Type: text/plain; charset="koi8-r"\r\n\r\n',
        "win1251",
      ),
      iconv.encode("Пётр", "koi8r"),
      Buffer.from("\r\n--X--"),
    ])
    assert.deepStrictEqual(read(body, "X", WINDOWS_1251), [
      ["имя", "Иван"],
      ["к", "Пётр"],
    ])
  })

  it("parseMultipartBody treats text that only begins like a boundary as content", () => {
    assert.deepStrictEqual(read(`${named("a", "1\r\n--Xy\r\n--X y")}--X  \r\n${named("b", "").slice(5)}--X--`), [
      ["a", "1\r\n--Xy\r\n--X y"],
      ["b", ""],
    ])
  })

  it("parseMultipartBody accepts a boundary only on a line of its own", () => {
    for (const line of ["--X-a", "--X-", "--X\ra", "--X \ta", "a--X", "--", "--X\r \n"])
      assert.deepStrictEqual(read(`${named("a", `1\r\n${line}\r\n2`)}${named("b", "3")}--X--`), [
        ["a", `1\r\n${line}\r\n2`],
        ["b", "3"],
      ])
    assert.deepStrictEqual(read(`before--X\r\nX: y\r\n\r\n0\r\n${named("a", "1")}--X--`), [["a", "1"]])
    assert.deepStrictEqual(read(`${named("a", "--\r\nb")}--X--`, ""), [["a", "--\r\nb"]])
  })

  it("parseMultipartBody finds a boundary that is not ASCII from the header's bytes", () => {
    const body = Buffer.from(`${named("a", "1")}--X--`.replaceAll("--X", "--é"))
    assert.deepStrictEqual(read(body, Buffer.from("é").toString("latin1")), [["a", "1"]])
  })

  it("boundaryInBody returns the first line if it is two dashes with text after them", () => {
    const found = ["--b\n", "--b \r\nx", "-b\n", "b-\n", "-\n-b\n", "--\r\n", "--b", ""].map((body) =>
      boundaryInBody(Buffer.from(body)),
    )
    assert.deepStrictEqual(found, ["b", "b", null, null, null, null, null, null])
  })

  it("parseMultipartBody treats a file with an extended name as blank only without name and content", () => {
    const fields = read(file("filename*=UTF-8''", "") + file("filename*=UTF-8''x", "") + file("filename*=UTF-8''", "1"))
    assert.deepStrictEqual(fields, [
      ["f", ""],
      ["f", { name: "x", type: "application/octet-stream", size: 0 }],
      ["f", { name: "", type: "application/octet-stream", size: 1 }],
    ])
  })

  it("parseMultipartBody returns a file type that PostgreSQL can store", () => {
    assert.deepStrictEqual(read(file('filename="x"\r\nContent-Type: a\0/b ', "1")), [
      ["f", { name: "x", type: "a\uFFFD/b", size: 1 }],
    ])
  })

  it("parseMultipartBody reads a form without fields as empty", () => {
    for (const body of ["--X--", "--X--\r\n", "--X\r\n--X--", "preamble\r\n--X--"])
      assert.deepStrictEqual(read(body), [])
  })

  it("parseMultipartBody stops at its field limit", () => {
    const form = parseMultipartBody(Buffer.from(`${named("a", "1").repeat(3)}--X--`), "X", 2)
    assert.deepStrictEqual([form.fields, form.unread?.reason, form.unread?.from], [[], "more than 2 form fields", 0])
  })
})
