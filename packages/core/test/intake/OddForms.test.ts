/** Forms and bodies as odd senders write them, each with its payload. */
import iconv from "iconv-lite"
import { assert, describe, it } from "vitest"
import { parseSubmission } from "../../src/intake/ParseSubmission.ts"

const FORM = "application/x-www-form-urlencoded"
const MULTIPART = "multipart/form-data; boundary=bx"

const encoded = (codec: string, text: string): string =>
  [...iconv.encode(text, codec)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")
const win = (text: string) => encoded("win1251", text)
const utf = (text: string) => encoded("utf8", text)

const part = (head: string | Buffer, value: string | Buffer): Buffer =>
  Buffer.concat([
    Buffer.from("--bx\r\n"),
    Buffer.from(head as string),
    Buffer.from("\r\n\r\n"),
    Buffer.from(value as string),
    Buffer.from("\r\n"),
  ])
const parts = (...all: ReadonlyArray<Buffer>) => Buffer.concat([...all, Buffer.from("--bx--\r\n")])
const named = (name: string) => `Content-Disposition: form-data; name="${name}"`

const parse = (body: string | Buffer, contentType: string, query = "") => {
  const { events, charset } = parseSubmission({ body: Buffer.from(body as string), contentType, query, encoding: null })
  return { payload: JSON.parse(events[0]!.text) as Record<string, unknown>, charset }
}

type Case = readonly [title: string, body: string | Buffer, type: string, payload: unknown, query?: string]

const table = (cases: ReadonlyArray<Case>) =>
  it.each(cases.map((one) => [one[0], one] as const))("with %s", (_, [, body, type, payload, query]) =>
    assert.deepStrictEqual(parse(body, type, query).payload, payload),
  )

describe("parseSubmission keeps each value of a form in its own charset", () => {
  table([
    ["windows-1251 in the query and UTF-8 in the body", `n=${utf("Ёж")}`, FORM, { q: "Поиск товара", n: "Ёж" }, `q=${win("Поиск товара")}`],
    ["UTF-8 in the query and windows-1251 in the body", `n=${win("Привет всем")}`, FORM, { q: "Ёж", n: "Привет всем" }, `q=${utf("Ёж")}`],
    ["a name in windows-1251 and its value in UTF-8", `${win("Имя клиента")}=${utf("Ёж")}`, FORM, { "Имя клиента": "Ёж" }],
    ["two legacy values around one in UTF-8", `a=${win("Привет всем")}&b=${utf("Ёж")}&c=${win("Пока всем")}`, FORM, { a: "Привет всем", b: "Ёж", c: "Пока всем" }],
    ["letters that are not escaped, and plus signs", Buffer.concat([Buffer.from("a=x+y&b="), iconv.encode("Привет всем", "win1251")]), FORM, { a: "x y", b: "Привет всем" }],
    ["an emoji beside windows-1251", `a=${utf("😀")}&b=${win("Привет всем")}`, FORM, { a: "😀", b: "Привет всем" }],
    ["UTF-8 that is cut in its last letter", `a=${utf("Привет, мир").slice(0, -3)}&b=1`, FORM, { a: "Привет, ми\uFFFD", b: "1" }],
    ["a name of no characters, beside others", `=1&a=2&=${utf("Ж")}`, FORM, { "": ["1", "Ж"], a: "2" }],
    ["percent signs that escape nothing", "a=100%&b=%zz&c=%u0416&d=%4", FORM, { a: "100%", b: "%zz", c: "%u0416", d: "%4" }],
    ["a file's name in windows-1251 beside UTF-8", parts(part(named("a"), "Ёж"), part(Buffer.concat([Buffer.from(`${named("f")}; filename="`), iconv.encode("Договор поставки.pdf", "win1251"), Buffer.from('"\r\nContent-Type: application/pdf')]), "xy")), MULTIPART, { a: "Ёж", f: { name: "Договор поставки.pdf", type: "application/pdf", size: 2 } }],
    ["a zero byte and a line break", "a=x%00y&b=1%0D%0A2", FORM, { a: "x\uFFFDy", b: "1\r\n2" }],
  ]) // prettier-ignore
})

describe("parseSubmission heeds a charset that the sender names", () => {
  const koi = (text: string) => iconv.encode(text, "koi8r")
  table([
    ["_charset_ behind the values", `a=${encoded("win1250", "Łódź")}&_charset_=windows-1250`, FORM, { a: "Łódź", _charset_: "windows-1250" }],
    ["charset in capitals and with an underscore", `a=${encoded("koi8r", "Ёж")}&charset=KOI8_R`, FORM, { a: "Ёж", charset: "KOI8_R" }],
    ["charset under another value in UTF-8", `a=${utf("Ёж")}&b=${encoded("win1252", "É")}&charset=windows-1252`, FORM, { a: "Ёж", b: "É", charset: "windows-1252" }],
    ["a charset that is unknown", `a=${utf("Ёж")}&charset=klingon`, FORM, { a: "Ёж", charset: "klingon" }],
    ["a charset that means another thing", `a=${utf("Ёж")}&charset=${utf("Да")}`, FORM, { a: "Ёж", charset: "Да" }],
    ["Shift_JIS", `a=${encoded("shiftjis", "表示")}&_charset_=Shift_JIS`, FORM, { a: "表示", _charset_: "Shift_JIS" }],
    ["GBK in the content type", `a=${encoded("gbk", "你好")}`, `${FORM}; charset=gbk`, { a: "你好" }],
    ["the content type's quotes", `a=${encoded("win1251", "Ё")}`, `${FORM};charset="Windows-1251"`, { a: "Ё" }],
    ["a part in KOI8-R beside one in UTF-8", parts(part(named("a"), "Ёж"), part(`${named("b")}\r\nContent-Type: text/plain; charset=koi8-r`, koi("Ёж"))), MULTIPART, { a: "Ёж", b: "Ёж" }],
    ["charsets of a mail that is forwarded", parts(part(named("subject"), koi("Вопрос")), part(named("text"), "Ёж"), part(named("charsets"), '{"subject":"koi8-r","text":"UTF-8"}')), MULTIPART, { subject: "Вопрос", text: "Ёж", charsets: '{"subject":"koi8-r","text":"UTF-8"}' }],
    ["charsets that are not JSON", parts(part(named("a"), "Ёж"), part(named("charsets"), "{")), MULTIPART, { a: "Ёж", charsets: "{" }],
    ["a file's name in RFC 5987", parts(part(`${named("f")}; filename="x.txt"; filename*=UTF-8''%D0%81%D0%B6.txt\r\nContent-Type: text/plain`, "1")), MULTIPART, { f: { name: "Ёж.txt", type: "text/plain", size: 1 } }],
  ]) // prettier-ignore
})

describe("parseSubmission reads a body as what it looks like", () => {
  table([
    ["JSON under the form's type", '{"a":"1&b=2"}', FORM, { a: "1&b=2" }],
    ["JSON behind a mark and spaces", '\uFEFF \t\n{"a":1}', FORM, { a: 1 }],
    ["a list under the form's type", '[{"a":1}]', FORM, { _value: [{ a: 1 }], _parse_error: "a list of objects is a batch only under a JSON content type" }],
    ["what only begins like JSON", "{a}=1", FORM, { "{a}": "1" }],
    ["a form without a type", "a=1&b=2", "", { a: "1", b: "2" }],
    ["JSON without a type", '{"a":[1]}', "", { a: [1] }],
    ["JSON under text/plain", '{"a":1}', "text/plain", { a: 1 }],
    ["JSON under an own type", '{"a":1}', "application/vnd.acme+json; v=2", { a: 1 }],
    ["a list of numbers under no type", "[1, 2]", "", { _value: [1, 2], _parse_error: "a list of objects was expected, but item 1 is a number, at line 1, column 2 (offset 1)" }],
    ["JSON lines as a batch", '{"a":1}\n{"a":2}\n', "application/x-ndjson", { a: 1 }],
    ["a JSON text sequence", '\u001E{"a":1}\n\u001E{"a":2}\n', "application/json-seq", { a: 1 }],
  ]) // prettier-ignore
})

describe("parseSubmission removes the transfer encoding of a part", () => {
  const QP = "Content-Transfer-Encoding: quoted-printable"
  const BASE64 = "content-transfer-encoding:base64"
  const koi = iconv.encode("Ёж", "koi8r").toString("base64")
  const sent = (head: string, value: string) => parts(part(`${named("a")}\r\n${head}`, value), part(named("b"), "=41"))
  const kept = (head: string, value: string, fault: string, at: number) => {
    const start = `--bx\r\n${named("a")}\r\n${head}\r\n\r\n`.length
    const reason = `the value of "a" is kept as sent: ${fault}, at byte ${start + at} of the body`
    return [sent(head, value), MULTIPART, { a: value, b: "=41", _parse_error: reason }] as const
  }
  table([
    ["quoted-printable with soft line breaks", sent(QP, "=D0=81=d0=b6 =3D =\r\n1 \t\r\n= \n2="), MULTIPART, { a: "Ёж = 1 \t\r\n2", b: "=41" }],
    ["base64 in lines, without padding", sent(BASE64, "0IHQ\r\ntiAxIA"), MULTIPART, { a: "Ёж 1 ", b: "=41" }],
    ["base64 in the charset of the part", sent(`Content-Type: text/plain; charset=koi8-r\r\n${BASE64}`, koi), MULTIPART, { a: "Ёж", b: "=41" }],
    ["quoted-printable in an undeclared charset", sent(QP, "=CF=F0=E8=E2=E5=F2 =E2=F1=E5=EC"), MULTIPART, { a: "Привет всем", b: "=41" }],
    ["no encoding by name", sent("Content-Transfer-Encoding: 8bit (as is)", "=D0=81"), MULTIPART, { a: "=D0=81", b: "=41" }],
    ["the name of a charset", sent("Content-Transfer-Encoding: UTF-8", "=D0=81"), MULTIPART, { a: "=D0=81", b: "=41" }],
    ["an encoded file, whose size is that of its content", parts(part(`${named("f")}; filename="x"\r\n${BASE64}`, "0IHQtg==")), MULTIPART, { f: { name: "x", type: "application/octet-stream", size: 4 } }],
    ["an encoding that decodes to nothing", sent(BASE64, ""), MULTIPART, { a: "", b: "=41" }],
    ["text that is not quoted-printable", ...kept(QP, "x=y", "not valid quoted-printable", 1)],
    ["text that is not base64", ...kept(BASE64, "Ab!=", "not valid base64", 2)],
    ["base64 that is cut off", ...kept(BASE64, "0IHQt", "not valid base64", 5)],
    ["base64 with bits to spare", ...kept(BASE64, "0IHQtx", "not valid base64", 6)],
    ["an unknown encoding", ...kept("Content-Transfer-Encoding: x-uuencode", "#0V%T", 'its Content-Transfer-Encoding "x-uuencode" is unknown', 0)],
    ["a part that is cut off behind an encoded one", Buffer.concat([part(`${named("a")}\r\n${QP}`, "=D0=81"), Buffer.from("--bx\r\nContent-Dis")]), MULTIPART, { a: "Ё", _raw: "Content-Dis", _parse_error: "not a readable form: the headers of a part do not end with an empty line, at byte 109 of the body" }],
  ]) // prettier-ignore
})
