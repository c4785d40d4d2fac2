import { inspectFile } from "@data-cabinet/core/file/FileInspection"
import { inPieces } from "@data-cabinet/core/file/Pieces"
import { Effect } from "effect"
import { gzipSync } from "node:zlib"
import { assert, it } from "vitest"

const inspect = (name: string, content: Buffer | string) => {
  const bytes = Buffer.from(content as string)
  return Effect.runPromise(Effect.result(inspectFile({ name, size: bytes.length, bytes: inPieces(bytes) }, {})))
}

const OLE = Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1])
const ole = (stream: string, before = 1000) =>
  Buffer.concat([OLE, Buffer.alloc(before), Buffer.from(`Root Entry\0${stream}\0`, "utf16le"), Buffer.alloc(300)])

const bytes = (length: number) => Buffer.from(Array.from({ length }, (_, n) => (n * n * 31 + n * 7) % 251))
const base64Lines = (width: number, length: number) =>
  bytes(length)
    .toString("base64")
    .replaceAll(new RegExp(`.{${width}}`, "g"), "$&\r\n")

it.each([
  ["deal.xls", '<meta http-equiv="Content-type" content="text/html" />\n<p>Sign in</p>', /HTML page/],
  ["a.csv", "<!-- made by a shop -->\n<DIV>1</DIV>", /HTML page/],
  ["a.csv", "\uFEFF  <!DOCTYPE html><html><body>Sign in</body></html>", /HTML page/],
  ["a.xls", '<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?><Workbook xmlns="urn:x"/>', /Excel 2003/],
  ["a.fods", '<?xml version="1.0"?>\n<office:document xmlns:office="urn:x"/>', /flat OpenDocument/],
  ["a.xml", '<?xml version="1.0"?><orders><order/></orders>', /an XML document/],
  ["a.csv", Buffer.from("<?xml version='1.0'?><a/>", "utf16le").swap16(), /an XML document/],
  ["a.csv", "<orders><order id='1'/></orders>", /an XML document/],
  ["a.csv", "<Root>\n<a>1</a>\n<b>2</b>\n</Root>\n", /an XML document/],
  ["a.csv", "<error>Access denied</error>\n", /an XML document/],
  ["a.csv", '<ok code="1"/>', /an XML document/],
  ["f.eth", "socialcalc:version:1.5\nMIME-Version: 1.0\n", /SocialCalc/],
  ["f.bin", Buffer.from("\x04\x22\x4d\x18a\x05b\nc\x06d\x0ee\n", "latin1"), /LZ4/],
  ["f.csv", "id,name\n\x02\x03,\x04\x05\n", /a binary file/],
  ["f.xlsx", Buffer.from("junkPK\x03\x04\x14\0\x06\0\x08\0!\n", "latin1"), /a binary file/],
  ["f.csv", Buffer.alloc(500), /a binary file/],
  ["doc.pdf", Buffer.from("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", "latin1"), /PDF/],
  ["f.csv", gzipSync("a,b\n1,2\n"), /gzip/],
  ["f.csv", Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), /PNG/],
  ["f.csv", Buffer.from("\xff\xd8\xff\xe0", "latin1"), /JPEG/],
  ["f.csv", "SQLite format 3\0", /SQLite/],
  ["f.csv", "PAR1\x15abc", /Parquet/],
  ["f.csv", Buffer.from("\x7fELF\x02", "latin1"), /program/],
  ["f.txt", "{\\rtf1\\ansi}", /RTF/],
  ["f.csv", Buffer.concat([Buffer.alloc(257), Buffer.from("ustar\0")]), /tar archive/],
  ["f.slk", 'ID;PWXL;N;E\r\nP;PGeneral\r\nC;Y1;X1;K"a"\r\nE\r\n', /SYLK/],
  ["f.csv", 'ID;PCALCOOO32\r\nC;X1;Y1;K"a"\r\nE\r\n', /SYLK/],
  ["f.dif", 'TABLE\r\n0,1\r\n"EXCEL"\r\nVECTORS\r\n', /DIF/],
  ["contacts.csv", "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Anna\r\nEND:VCARD\r\n", /vCard/],
  ["events.txt", "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n", /iCalendar/],
  ["kl_to_1c.txt", "1CClientBankExchange\r\nВерсияФормата=1.03\r\n", /1C with a bank/],
  ["statement.csv", "OFXHEADER:100\r\nDATA:OFXSGML\r\n", /OFX/],
  ["statement.txt", "!Type:Bank\nD01/02/2024\nT-5.00\n^\n", /QIF/],
  ["statement.txt", ":20:STARTUMSE\r\n:25:50880050/0194774400\r\n", /MT940/],
  ["orders.txt", "UNA:+.? '\nUNB+UNOC:3+4012345+4098765+240301:1200+1'\n", /EDI/],
  ["orders.txt", "ISA*00*          *00*          *ZZ*A\n", /EDI/],
  ["dump.csv", "-- MySQL dump 10.13\n--\n/*!40101 SET NAMES utf8 */;\nDROP TABLE IF EXISTS `a`;\n", /SQL/],
  ["mail.csv", "Return-Path: <a@b.example>\r\nReceived: from x\r\n\r\nhi\r\n", /mail message/],
  ["mail.csv", "From: Ann <a@b.example>\r\nTo: c@d.example\r\n\r\nhi\r\n", /mail message/],
  ["a.srt", "1\r\n00:00:01,000 --> 00:00:02,500\r\nHello, you\r\n\r\n2\r\n", /subtitles \(SRT\)/],
  ["a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n", /subtitles \(WebVTT\)/],
  ["a.ass", "[Script Info]\nTitle: a\n", /subtitles/],
  ["a.csv", "begin 644 a.csv\nM86%A86%A86%A86%A86%A86%A86%A86%A86%A86%A86%A86%A86%A86%A86%A\n`\nend\n", /uuencode/],
  ["a.csv", "data:text/csv;charset=utf-8;base64,YSxiCjEsMgo=", /base64/],
  ["a.csv", base64Lines(76, 300), /base64/],
  ["a.csv", base64Lines(64, 200), /base64/],
  ["a.csv", base64Lines(76, 9_000), /base64/],
  ["f.csv", "#!/bin/sh\necho 1,2\n", /a script/],
  ["f.csv", "[server]\nport = 80\n", /INI/],
  ["f.csv", "---\na: 1\nb: 2\n", /YAML/],
  ["f.csv", "name: x\nitems:\n  - a\n  - b\n", /YAML/],
  ["f.csv", "- a: 1\n  b: 2\n- a: 3\n  b: 4\n", /YAML/],
  ["f.csv", "version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 12345\n", /Git LFS/],
  ["f.csv", "Rate limit exceeded, try again later\n", /one line of words/],
  ["f.csv", "Access denied.", /one line of words/],
  ["f.csv", '"a,b,c"\n"1,2,3"\n"4,5,6"\n', /quoted as a whole.*format csv/],
  ["f.csv", '"a;b;c"\r\n"1;2,5;3"\r\n', /quoted as a whole/],
  ["f.txt", "id  name   sum\n1   Ann   1.50\n20  Bob  10.00\n", /aligned with spaces/],
  [
    "ls.txt",
    "total 8\n-rw-r--r-- 1 root root 812 Nov 29 a.md\n-rw-r--r-- 1 root root  12 Nov 28 b.md\n",
    /aligned with/,
  ],
  ["pods.txt", "NAME    READY   AGE\nweb-1   1/1     3d\n", /aligned with spaces/],
  ["app.js", "const a = 1;\nconst b = 2;\nrun(a, b);\n", /source code/],
  ["a.js", "/* (c) 2026 */\n// a\nimport { a } from 'a'\n\nexport default a\n", /source code/],
  ["a.js", '!function(e,t){"object"==typeof e&&t()}(this,function(){return 1});', /source code/],
  ["a.json.txt", '/**/cb([{"a":1}]);', /source code/],
  ["a.txt", "int x;\nint main(void) {\n  f(x, 1);\n  return 0;\n}\n", /source code/],
  ["a.java", "package a.b;\n\nimport java.util.List;\n\nclass A { int x; }\n", /source code/],
  ["a.py", "import os\nimport sys\n\nprint(1, 2)\n", /source code/],
  ["a.go", 'package main\n\nimport "fmt"\n', /source code/],
  ["a.css", "body { color: red; }\np { margin: 0; padding: 1px; }\n", /source code/],
  ["a.php", "<?php\n$x = 1;\necho $x;\n", /source code/],
  ["a.diff", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a,b\n+a,c\n", /source code/],
  ["a.sql", "SELECT a, b\nFROM c;\nUPDATE c SET a = 1;\n", /SQL script/],
  [".env", "# local\nPORT=80\nHOST=a\n", /settings/],
  ["a.toml", 'title = "x"\n[a]\nb = 1\n', /settings/],
  ["people.txt", "version: 1\n\ndn: cn=Anna,dc=example\n", /LDIF/],
  ["f.csv", "a: b\nc: d\ne: f\n", /YAML/],
  ["f.csv", "  nested: 1\n  other: a, b\n", /YAML/],
  ["f.csv", "a:\n  b: 1\n  c: 2\n", /YAML/],
  ["f.csv", "# local\nversion: 3\nitems:\n- a\n- b\n", /YAML/],
  ["f.csv", "%YAML 1.2\n---\na: 1\n", /YAML/],
  ["f.yaml", "- a\n- b\n", /By its name this is a YAML document: pass the format csv/],
  ["a/Dockerfile", "RUN a\n", /By its name.*source code/],
  ["f.csv", "2024-01-01 10:00:00 INFO a, b\n2024-01-01 10:00:01 WARN c\n", /a log/],
  ["f.csv", "INFO 2024-01-01 a\nWARN 2024-01-01 b\n", /a log/],
  ["f.csv", "Jan  1 10:00:00 host app[12]: a\nJan  1 10:00:01 host app[12]: b, c\n", /a log/],
  ["f.csv", '127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.0" 200 1\n'.repeat(2), /a log/],
  ["f.csv", 'time=2024 level=info msg="a, b"\ntime=2024 level=info msg=c\n', /a log/],
  ["f.csv", "[2024-01-01T10:00:00Z] INFO: a\n[2024-01-01T10:00:01Z] INFO: b\n", /a log/],
  [
    "f.csv",
    "Dear Sir,\n\nthank you for your letter, which I got. I will answer.\n\nYours,\nAnn\n",
    /text of sentences/,
  ],
  ["f.exe", "MZ", /a program/],
  ["f.csv", "MZ\0\0", /a program/],
  ["f.csv", "PAR1", /Parquet/],
  ["f.csv", "PAR1PAR1", /Parquet/],
  ["f.csv", "ORC\n\x03\0", /ORC/],
  ["f.csv", "%PDF", /PDF/],
  ["f.csv", Buffer.from("\x30\x82\x01\x90\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02", "latin1"), /PKCS #7/],
  ["f.csv", "\0\0'\n", /a binary file/],
  ["f.csv", "X-Mailer: a\nFrom: a@b.example\nTo: b\n\nhi, you\n", /mail message/],
  ["f.csv", "From a@b.example Mon Jan  1 10:00:00 2024\nTo: b\n", /mailbox/],
  ["f.csv", "HTTP/1.1 200 OK\r\nServer: a\r\n\r\nid,name\r\n", /web server/],
  ["f.csv", "; a\n\n[b c]\n\nd = 1\n", /INI/],
  ["f.csv", "-- a\ncreate table b (c int, d text);\n", /SQL/],
  ["f.csv", "select a, b from c where d = 1;\nselect 2;\n", /SQL/],
  ["f.csv", "# a\nimport os, sys\n\nprint(1)\n", /source code/],
  ["f.csv", "class Foo\n  def bar\n  end\nend\n", /source code/],
  ["f.csv", "interface A {\n  b: string\n}\n", /source code/],
  ["f.csv", "all: x\n\tgcc -o x x.c\n", /source code/],
  ["key.txt", "-----BEGIN CERTIFICATE-----\nMIIB\n", /PEM/],
  ["f.csv", "%!PS-Adobe-3.0\n", /PostScript/],
  ["f.dbf", Buffer.concat([Buffer.from([3, 124, 3, 1, 2, 0, 0, 0, 97, 0, 20, 0]), Buffer.alloc(90)]), /dBase/],
  ["q.txt", " id | name \n----+------\n  1 | Ann\n(1 row)\n", /drawn with lines.*export it as CSV/],
  ["q.txt", " id \r\n----\r\n  1\r\n(1 row)\r\n", /drawn with lines/],
  ["q.txt", "-[ RECORD 1 ]\nid   | 1\n", /drawn with lines/],
  ["q.txt", "*************************** 1. row ***************************\nid: 1\n", /drawn with lines/],
  ["q.csv", "+----+------+\n| id | name |\n+----+------+\n|  1 | Ann  |\n", /drawn with lines/],
  ["q.csv", "┌────┬──────┐\n│ id │ name │\n├────┼──────┤\n", /drawn with lines/],
  ["q.md", "| id | name |\n|:---|-----:|\n| 1 | Ann |\n", /drawn with lines/],
  ["q.md", "id | name\n---|---\n1 | Ann\n", /drawn with lines/],
  ["q.org", "| a | b |\n|---+---|\n| 1 | 2 |\n", /drawn with lines/],
  ["f.xls", ole("Workbook"), /Excel 97–2003/],
  ["f.xlsx", ole("EncryptedPackage", 700_000), /encrypted workbook: save it without a password/],
  ["f.doc", ole("WordDocument"), /Word document/],
  ["f.xls", OLE, /before 2007/],
])("inspectFile refuses %s by its name if it starts like another kind of file", async (name, content, words) => {
  const result = await inspect(name, content)
  const failure = result._tag === "Failure" ? result.failure : assert.fail("it was taken")
  assert.deepInclude(failure, { code: "unreadable" })
  assert.match(failure.message, words)
})

it.each([
  [
    "checksums",
    Array.from({ length: 5 }, (_, n) =>
      bytes(32 + n)
        .subarray(n)
        .toString("hex"),
    ).join("\n"),
  ],
  [
    "tokens",
    Array.from({ length: 5 }, (_, n) =>
      bytes(48 + n)
        .subarray(n)
        .toString("base64"),
    ).join("\n"),
  ],
  [
    "many tokens",
    Array.from({ length: 99 }, (_, n) =>
      bytes(48 + n)
        .subarray(n)
        .toString("base64"),
    ).join("\n"),
  ],
  ["numbers and times", "1\n00:00:01\n2\n00:00:02\n"],
])("inspectFile reads a column of %s", async (_, text) => {
  assert.strictEqual((await inspect("a.csv", text))._tag, "Success")
})

it("inspectFile reads tables whose cells hold dashes", async () => {
  const tables = [
    "a|b\n-|-\n1|2\n",
    "a|b\n--|x\n",
    "a,b\n---,---\n",
    "a\n---\n1\n",
    "a|b\n|\n",
    "+a|b\n1|2\n",
    " a\n1\n",
  ]
  for (const table of tables) assert.strictEqual((await inspect("f.csv", table))._tag, "Success", table)
})

it("inspectFile finds a container's stream name wherever the file is cut into pieces", async () => {
  for (const before of [65_470, 65_490, 65_500, 65_520]) {
    const result = await inspect("a.xlsx", ole("EncryptedPackage", before))
    assert.match(result._tag === "Failure" ? result.failure.message : "", /encrypted workbook/)
  }
})

it.each([
  "a,b\n<b>1</b>,2\n",
  "<price>;<name>\n1;2\n",
  "<a>\nx\n",
  "<b>Name</b>,n\n<b>Ann</b>,1\n",
  "id\x01name\n1\x01Ann\n",
  "id\x1fname\x1e\n1\x1fAnn\x1e\n",
  "a,b\n1,x\x0by\x0bz\x0c\n",
  "a,b\n1,\x02x\x02\n",
  `a,b\n1,\x02${"x".repeat(200)}\x03\x04\n`,
  "<5,>5\n1,2\n",
  "id,PAR1\n1,2\n",
  "ID3,BZh9\n1,2\n",
  "ID;Price;N\n1;2;3\n",
  "ID;P\nC;5\n",
  "ID;PRICE\nC;Y\nF;A\n",
  "TABLE,SEATS\n1,4\n",
  "-- id,name\n1,2\n",
  "Received,Message-ID\n1,2\n",
  ":20,:25\n1,2\n",
  "UNB,ISA\n1,2\n",
  "Full  name\nAnn Lee\nBob Ray\n",
  "Name  of it\nA     \nB     x\n",
  "From: x\nb\n",
  "[a],b\n1,2\n",
  "a: b\na: d\na: f\n",
  "Size: L;2\nColor: red;1\n",
  "MZ\nA\n",
  "Comment\nI like it. Thank you, all.\n",
  "Comment:\nI like it, thank you\n",
  "Sum, in all:\n1,5\n",
  "ORC,BM\n1,2\n",
  "Log\n2024-01-01 10:00:00 INFO a\n",
  "2024-01-01 10:00:00;INFO;a\n2024-01-01 10:00:01;INFO;b\n",
  "class Foo;def\n1;2\n",
  "# import of May\nfrom;to\n1;2\n",
  "a\n- b\n- c\n",
  "email\n",
  '"Full name of client"\n',
  "First name\n",
  "import date;from\n2026-01-01;a\n",
  "f(x);g([y])\n1;2\n",
  "let x;var y\n1;2\n",
  "using;package\n1;2\n",
  "Select a size from the list;c\n1;2\n",
  'id;code\n1;"f() {\n  return;\n}"\n2;"g() {\n  return;\n}"\n',
  "a;b;\n1;2;\n{;3;\n}\n",
  "level=info a=1\nlevel=warn a=2\n",
  "a=1;b=2\nc=3;d=4\n",
  "Name of client\nAnna  Lee\nAnna Maria\nAnna Ray\n",
  "Name of the client, in full;Sum\n",
  "Full name of client\nAnn\n",
  '"Lee, Ann, MD"\n"Ray, Bob, PhD"\n',
  '"a,b,c"\n"1,2,3"\n4\n',
  '"a,b"\n"1,2"\n',
  '"a","b","c"\n"1","2","3"\n',
])("inspectFile takes the table %j, which only looks like another kind of file", async (text) => {
  const result = await inspect("a.csv", text)
  assert.strictEqual(result._tag === "Success" && result.success.format, "csv")
})

// An expression that tries each way to divide such a text would never end.
it.each([
  ["[a]", "\n"],
  ["A=1\n", "A= \n"],
  ["# a\n", " \n"],
  ["a b\n", "a= "],
  ["Hello,\n", "a "],
])("inspectFile reads a text that begins with %j and repeats %j", async (begin, piece) => {
  const result = await inspect("a.csv", `${begin}${piece.repeat(4_096 / piece.length)}!`)
  assert.match(result._tag, /Success|Failure/)
})

it("inspectFile reads any text in the format that the caller names", async () => {
  const text = "<p>,<b>\n1,2\n"
  const file = { name: "a", size: text.length, bytes: inPieces(Buffer.from(text)) }
  const look = await Effect.runPromise(inspectFile(file, { format: "csv" }))
  assert.strictEqual(look.format, "csv")
})
