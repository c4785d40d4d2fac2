/** Separated texts, JSON and pages as odd programs write them, each with its rows or the message of its refusal. */
import { Effect, Stream } from "effect"
import iconv from "iconv-lite"
import { assert, describe, it } from "vitest"
import { inspectFile } from "../../src/file/FileInspection.ts"
import { inPieces } from "../../src/file/Pieces.ts"
import { readItems } from "../../src/file/ReadItems.ts"
import { SheetReader } from "../../src/file/SheetReader.ts"
import { jsonText } from "../../src/json/JsonText.ts"

/** The rows as JSON texts, then each refusal by its line and reason; or the message that refuses the file. */
const read = async (name: string, content: string | Uint8Array): Promise<ReadonlyArray<string>> => {
  const bytes = Buffer.from(content as string)
  const reading = Effect.gen(function* () {
    const file = { name, size: bytes.length, bytes: inPieces(bytes) }
    const look = yield* inspectFile(file, {})
    if ((look.csv?.readings.length ?? 0) > 0) return [`unclear: ${look.csv!.readings.length} readings`]
    const { batches } = yield* readItems(file, look, undefined)
    const all = yield* Stream.runCollect(batches)
    const rows = all.flatMap(({ items }) => items.map(({ payload }) => jsonText(payload)))
    return [...rows, ...all.flatMap(({ refusals }) => refusals.map(({ line, reason }) => `${line}: ${reason}`))]
  }).pipe(Effect.provideService(SheetReader, {} as never), Effect.scoped)
  const result = await Effect.runPromise(Effect.result(reading))
  return result._tag === "Success" ? result.success : [result.failure.message]
}

type Case = readonly [title: string, content: string | Uint8Array, rows: ReadonlyArray<string | RegExp>]

const check = async (name: string, [, content, rows]: Case) => {
  const found = await read(name, content)
  assert.strictEqual(found.length, rows.length, JSON.stringify(found))
  for (const [n, row] of rows.entries()) {
    if (typeof row === "string") assert.strictEqual(found[n], row)
    else assert.match(found[n]!, row)
  }
}

const wide = (codec: string, text: string, addBOM = false) => iconv.encode(text, codec, { addBOM })

const SEPARATED: ReadonlyArray<Case> = [
  ["a decimal comma beside semicolons", "Ware;Preis\nTee;1,50\nSaft;2,75\n", ['{"Ware":"Tee","Preis":"1,50"}', '{"Ware":"Saft","Preis":"2,75"}']],
  ["a tab inside quotes", 'a\tb\n"1\t2"\t3\n', ['{"a":"1\\t2","b":"3"}']],
  ["a declaration that names a rare delimiter", "sep=^\na^b\n1;2^3\n", ['{"a":"1;2","b":"3"}']],
  ["a declaration in quotes before a tab", '"sep=\t"\na\tb\nx\ty\n', ['{"a":"x","b":"y"}']],
  ["line ends of old Macs", "a;b\r1;2\r3;4", ['{"a":"1","b":"2"}', '{"a":"3","b":"4"}']],
  ["mixed line ends", "a;b\r\n1;2\n3;4\r5;6", ['{"a":"1","b":"2"}', '{"a":"3","b":"4"}', '{"a":"5","b":"6"}']],
  ["a line break of another kind inside quotes", 'a;b\r\n"x\ny";2\r\n', ['{"a":"x\\ny","b":"2"}']],
  ["one column of names with commas", "Name\nLee, Ann\nRay, Bob\n", ['{"Name":"Lee, Ann"}', '{"Name":"Ray, Bob"}']],
  ["one column of texts with any commas", "Note\nGood, fast, cheap\nBad\nOk, ok\n", ['{"Note":"Good, fast, cheap"}', '{"Note":"Bad"}', '{"Note":"Ok, ok"}']],
  ["commas with spaces that separate", "a, b\n1, 2\n", ['{"a":"1","b":" 2"}']],
  ["commas with spaces below a title", "Report\n\nName, Age\nAnn, 5\nBob, 6\n", ['{"Name":"Ann","Age":" 5"}', '{"Name":"Bob","Age":" 6"}']],
  ["commas and semicolons on every line", "time,price;vol\n10:00,1.5;100\n10:05,1.7;90\n", ['{"time,price":"10:00,1.5","vol":"100"}', '{"time,price":"10:05,1.7","vol":"90"}']],
  ["semicolons in addresses of pages", "url,title\nhttps://a.example/?d=1;e=2,One; two\nhttps://a.example/?d=3;e=4,Three; four\n", ['{"url":"https://a.example/?d=1;e=2","title":"One; two"}', '{"url":"https://a.example/?d=3;e=4","title":"Three; four"}']],
  ["two bars between cells", "id||name||note\n1||Ann||a|b\n2||Bob||\n", ['{"id":"1","name":"Ann","note":"a|b"}', '{"id":"2","name":"Bob","note":""}']],
  ["two bars and quotes", 'id||"full name"\r\n1||"Ann || ""A"""\r\n', ['{"id":"1","full name":"Ann || \\"A\\""}']],
  ["two bars at the end of each line", "id||name||\n1||Ann||\n", ['{"id":"1","name":"Ann"}']],
  ["a bar between tildes", "id~|~name\n1~|~Ann|Bob\n2~|~C~D\n", ['{"id":"1","name":"Ann|Bob"}', '{"id":"2","name":"C~D"}']],
  ["double colons", "id::name::time\n1::Ann::10:05\n", ['{"id":"1","name":"Ann","time":"10:05"}']],
  ["double colons of two cells, or of one", "key::value\na::1\n", ["unclear: 2 readings"]],
  ["names with double colons among texts", "std::vector\nboost::any\n", ["unclear: 2 readings"]],
  ["a tab and a space between cells", "id\t name\n1\t Ann\n", ['{"id":"1","name":"Ann"}']],
  ["an unusual delimiter of two characters", "a#:b#:c\n1#:2#:3\n", ["unclear: 2 readings"]],
  ["bars around an empty column", "id||name\n1|x|Ann\n", ['{"id":"1","column2":"x","name":"Ann"}']],
  ["two semicolons around an empty column", "id;;name\n1;;Ann\n", ['{"id":"1","column2":"","name":"Ann"}']],
  ["a comma in the header alone", "Показатель;Доля, %\nА;12,5\nБ;87,5\n", ['{"Показатель":"А","Доля, %":"12,5"}', '{"Показатель":"Б","Доля, %":"87,5"}']],
  ["spaces that group thousands", "Сумма;НДС\n1\u00a0234,50;205,75\n-2 000,00;333,33\n", ['{"Сумма":"1\u00a0234,50","НДС":"205,75"}', '{"Сумма":"-2 000,00","НДС":"333,33"}']],
  ["a bank's titles in quotes", '"Konto";"DE12 3456"\n""\n"Stand:";"1.234,56 €"\n""\n"Tag";"Status";"Betrag (€)"\n"01.02.24";"Gebucht";"-12,50"\n', ['{"Tag":"01.02.24","Status":"Gebucht","Betrag (€)":"-12,50"}']],
  ["comments above the header", "# ----\n# All pages\n# ----\n\nPage,Views,Rate\n/,\"1,234\",45.2%\n/a,567,12.0%\n", ['{"Page":"/","Views":"1,234","Rate":"45.2%"}', '{"Page":"/a","Views":"567","Rate":"12.0%"}']],
  ["a register with a total", "Реестр за 01.02.2024\nООО «Ромашка», ИНН 7701234567\n\n№;Сумма, руб.;Плательщик\n1;1 500,00;Иванов, И. И.\n2;2 300,50;Петров, П. П.\nИтого;3 800,50;\n", ['{"№":"1","Сумма, руб.":"1 500,00","Плательщик":"Иванов, И. И."}', '{"№":"2","Сумма, руб.":"2 300,50","Плательщик":"Петров, П. П."}', '{"№":"Итого","Сумма, руб.":"3 800,50","Плательщик":""}']],
  ["a bar at the end of each line", "id|name|\n1|Ann|\n2|Bob|\n", ['{"id":"1","name":"Ann"}', '{"id":"2","name":"Bob"}']],
  ["UTF-16LE without a mark, in Greek, Thai and emoji", wide("utf-16le", "Όνομα;เมือง\r\nΆννα;กรุงเทพ 😀\r\n"), ['{"Όνομα":"Άννα","เมือง":"กรุงเทพ 😀"}']],
  ["UTF-16BE without a mark, in Hebrew and Japanese", wide("utf-16be", "שם\t都市\nדני\t東京\n"), ['{"שם":"דני","都市":"東京"}']],
  ["UTF-16LE without a mark, in Arabic and Korean", wide("utf-16le", "اسم,도시\nعلي,서울\n"), ['{"اسم":"علي","도시":"서울"}']],
  ["UTF-16LE that ends in half a unit", Buffer.concat([wide("utf-16le", "Имя;Год\nЁж;1\n"), Buffer.from("\n")]), ['{"Имя":"Ёж","Год":"1"}', /^3: the file ends here/]],
  ["titles above the header", "Shop GmbH;;\nBericht;;\n\nDatum;Nr;Betrag\n01.02.2026;7;1,5\n02.02.2026;8;2,5\n", ['{"Datum":"01.02.2026","Nr":"7","Betrag":"1,5"}', '{"Datum":"02.02.2026","Nr":"8","Betrag":"2,5"}']],
  ["a quote in the middle of an unquoted cell", 'a;b\n5" pipe;x\n', ['{"a":"5\\" pipe","b":"x"}']],
  ["doubled quotes at both ends of a cell", 'a;b\n"""x""";y\n', ['{"a":"\\"x\\"","b":"y"}']],
  ["text behind a closing quote", 'a;b\n"x"y;2\n1;2\n', ['{"a":"1","b":"2"}', /^2: /]],
  ["a quote that is never closed", 'a;b\n1;2\n"x;3\n4;5\n', ['{"a":"1","b":"2"}', /^3: /]],
  ["a zero byte", Buffer.from("a;b\n1\u00002;3\n"), ['{"a":"1\uFFFD2","b":"3"}']],
  ["a row with more cells than the header", "a;b\n1;2;3\n4;5\n", ['{"a":"4","b":"5"}', /^2: /]],
  ["a row with fewer cells than the header", "a;b;c\n1;2\n4;5;6\n", ['{"a":"1","b":"2"}', '{"a":"4","b":"5","c":"6"}']],
  ["a blank line in the middle", "a;b\n1;2\n\n3;4\n", ['{"a":"1","b":"2"}', '{"a":"3","b":"4"}']],
  ["a mark before a quoted header", '\uFEFF"a";"b"\n1;2\n', ['{"a":"1","b":"2"}']],
  ["UTF-16BE with a mark", wide("utf-16be", "Имя\tГод\r\nЁж\t2020\r\n", true), ['{"Имя":"Ёж","Год":"2020"}']],
  ["UTF-16LE without a mark", wide("utf-16le", "Имя;Город\r\nЖанна;Тверь\r\n"), ['{"Имя":"Жанна","Город":"Тверь"}']],
  ["UTF-16LE without a mark, Latin alone", wide("utf-16le", "name;town\nBob;Rome\n"), ['{"name":"Bob","town":"Rome"}']],
  ["UTF-16BE without a mark", wide("utf-16be", "Имя;Город\nЖанна;Тверь\n"), ['{"Имя":"Жанна","Город":"Тверь"}']],
  ["UTF-32LE without a mark", wide("utf-32le", "a;b\nя;1\n"), ['{"a":"я","b":"1"}']],
  ["UTF-16 that is cut in the middle of a unit", wide("utf-16le", "a;b\n1;2\n").subarray(0, -1), [/"a":"1"/]],
  ["Chinese in UTF-16 without a mark", wide("utf-16le", "名;城\n张三;北京\n李四;上海\n"), ['{"名":"张三","城":"北京"}', '{"名":"李四","城":"上海"}']],
  ["thousands with spaces and dates with commas", "When;Sum\nMay 1, 2026;1 234,50\nMay 2, 2026;99,00\n", ['{"When":"May 1, 2026","Sum":"1 234,50"}', '{"When":"May 2, 2026","Sum":"99,00"}']],
  ["codes with leading zeros and long digits", "id,code\n007,12345678901234567890123456789012345678901\n", ['{"id":"007","code":"12345678901234567890123456789012345678901"}']],
] // prettier-ignore

describe("readItems of separated text", () => {
  it.each(SEPARATED.map((one) => [one[0], one] as const))("reads %s", (_, one) => check("a.csv", one))
})

const LISTS: ReadonlyArray<Case> = [
  ["lines that end in CRLF", '{"a":1}\r\n{"a":2}\r\n', ['{"a":1}', '{"a":2}']],
  ["a last line without an end", '{"a":1}\n{"a":2}', ['{"a":1}', '{"a":2}']],
  ["blank lines between lines", '{"a":1}\n\n  \n{"a":2}\n', ['{"a":1}', '{"a":2}']],
  ["a line that is no object", '{"a":1}\n{"a":2}\n[1]\n', ['{"a":1}', '{"a":2}', /^3: /]],
  ["a broken line", '{"a":1}\n{"a":\n{"a":2}\n', ['{"a":1}', '{"a":2}', /^2: /]],
  ["a key that occurs twice", '{"a":1,"a":2}\n{"b":1}\n', ['{"a":2}', '{"b":1}']],
  ["numbers beyond doubles", '{"a":1e400,"b":-0,"c":0.10}\n{"a":123456789012345678901234567890}\n', ['{"a":1e400,"b":-0,"c":0.10}', '{"a":123456789012345678901234567890}']],
  ["a mark before the first line", '\uFEFF{"a":1}\n{"a":2}\n', ['{"a":1}', '{"a":2}']],
  ["escapes that are half a character", '{"a":"\\ud800"}\n{"a":"\\ud83d\\ude00"}\n', ['{"a":"\uFFFD"}', '{"a":"😀"}']],
  ["an array over several lines", '[\n {"a": 1},\n {"a": [2, {"b": null}]}\n]\n', ['{"a":1}', '{"a":[2,{"b":null}]}']],
  ["an array that is cut off", '[{"a":1},{"a":2', ['{"a":1}', /^1: /]],
  ["a JSON text sequence", '\u001E{"a":1}\n\u001E{"a":2}\n', ['{"a":1}', '{"a":2}']],
  ["an empty array", "[]", []],
] // prettier-ignore

describe("readItems of JSON", () => {
  it.each(LISTS.map((one) => [one[0], one] as const))("reads %s under any name of JSON", async (_, one) => {
    await check("a.json", one)
    if (one[2].length > 0) await check("a.jsonl", one)
  })
})

const page = (rows: string) => `<html><body><table>${rows}</table></body></html>`

const PAGES: ReadonlyArray<Case> = [
  ["a cell over two columns", page("<tr><th>a<th>b<th>c<tr><td colspan=2>1<td>3"), ['{"a":"1","b":"","c":"3"}']],
  ["a cell over two rows", page("<tr><th>a<th>b<tr><td rowspan=2>1<td>2<tr><td>3"), ['{"a":"1","b":"2"}', '{"a":"","b":"3"}']],
  ["entities, known and unknown", page("<tr><th>a<tr><td>&lt;b&gt; &amp;amp; &#1078;&#x436; &euro; &nope;"), ['{"a":"<b> &amp; жж € &nope;"}']],
  ["a header in a part of its own", page("<thead><tr><th>a</th></tr></thead><tbody><tr><td>1</td></tr></tbody>"), ['{"a":"1"}']],
  ["a line break and markup in a cell", page("<tr><td>a<td>b<tr><td>x<br>y<td><b>1</b>,<i>5</i>"), ['{"a":"x\\ny","b":"1,5"}']],
  ["a script between rows", page("<tr><th>a</tr><script>'<tr><td>9'</script><tr><td>1</tr>"), ['{"a":"1"}']],
  ["a comment that holds a row", page("<tr><th>a</tr><!-- <tr><td>9</td></tr> --><tr><td>1</tr>"), ['{"a":"1"}']],
  ["tags and attributes in capitals", "<TABLE BORDER='1'><TR><TD>a</TD><TD>b</TD></TR><TR><TD ALIGN=RIGHT>1</TD><TD>2</TD></TR></TABLE>", ['{"a":"1","b":"2"}']],
  ["a table in a cell", page("<tr><th>a<tr><td><table><tr><td>1</table>"), [/inside/]],
  ["a page with two tables", "<table><tr><td>a<tr><td>1</table><table><tr><td>b<tr><td>2</table>", [/2 tables/]],
  ["a page that ends inside its table", "<table><tr><td>a</td></tr><tr><td>1</td>", ['{"a":"1"}', /^2: the file ends in the middle of the table/]],
  ["windows-1251 that the page states", iconv.encode(`<meta charset="windows-1251">${page("<tr><th>Имя<tr><td>Ян")}`, "win1251"), ['{"Имя":"Ян"}']],
] // prettier-ignore

describe("readItems of a page", () => {
  it.each(PAGES.map((one) => [one[0], one] as const))("reads %s", (_, one) => check("a.xls", one))
})
