/** ODS workbooks of a content, in the ways that programs write them. */
import type { Cell, Content } from "./contents.ts"
import { type ZipWays, zipOf } from "./zipOf.ts"

const ODF = "urn:oasis:names:tc:opendocument:xmlns"
const MIMETYPE = "application/vnd.oasis.opendocument.spreadsheet"

export interface OdsWay {
  readonly name: string
  /** Why LibreOffice shows other cells. */
  readonly elsewhere?: string
  readonly xml?: (xml: string) => string
  readonly bytes?: (xml: string) => Buffer
  readonly before?: string
  readonly zip?: ZipWays
  readonly lacksMimetype?: boolean
  /** Gaps are written as empty cells and rows, not as repetitions. */
  readonly isFlat?: boolean
}

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/** Writes spaces that white space rules would collapse as elements. */
const paragraphs = (text: string) =>
  text
    .split("\n")
    .map((line) => `<text:p>${escaped(line).replaceAll(/^ | (?= )| $/g, "<text:s/>")}</text:p>`)
    .join("")

const STYLES: Readonly<Record<number, string>> = {
  1: "day",
  5: "day",
  4: "moment",
  6: "moment",
  2: "time",
  3: "span",
  8: "span",
  7: "percent",
}

const cellOf = ({ written }: Cell): string => {
  const typed = (type: string, attributes: string, body = "") =>
    `<table:table-cell office:value-type="${type}"${attributes}>${body}</table:table-cell>`
  switch (written.kind) {
    case "text": {
      const { text, runs, aid } = written
      if (runs !== undefined)
        return typed(
          "string",
          "",
          `<text:p>${runs.map((run) => `<text:span>${escaped(run).replace(/ $/, "<text:s/>")}</text:span>`).join("")}</text:p>`,
        )
      if (aid !== undefined)
        return typed(
          "string",
          "",
          `<text:p><text:ruby><text:ruby-base>${text}</text:ruby-base><text:ruby-text>${aid}</text:ruby-text></text:ruby></text:p>`,
        )
      return typed("string", "", paragraphs(text))
    }
    case "number":
      return written.style === undefined
        ? typed("float", ` office:value="${written.token}"`, "<text:p>shown</text:p>")
        : typed("percentage", ` office:value="${written.token}" table:style-name="percent"`)
    case "moment":
      return written.iso.startsWith("PT")
        ? typed("time", ` office:time-value="${written.iso}" table:style-name="${STYLES[written.style]}"`)
        : typed("date", ` office:date-value="${written.iso}" table:style-name="${STYLES[written.style]}"`)
    case "boolean":
      return typed(
        "boolean",
        ` office:boolean-value="${written.value}"`,
        `<text:p>${written.value ? "WAHR" : "FALSCH"}</text:p>`,
      )
    case "error":
      return `<table:table-cell table:formula="of:=${written.text === "#N/A" ? "NA()" : "1/0"}" office:value-type="string" office:string-value="" calcext:value-type="error"><text:p>${written.text}</text:p></table:table-cell>`
    case "formula":
      return `<table:table-cell table:formula="of:=${written.formula}" office:value-type="float" office:value="${written.token}"><text:p>3</text:p></table:table-cell>`
  }
}

const gap = (count: number, isFlat: boolean, element: string, attribute: string, body = "") =>
  isFlat
    ? `<table:${element}>${body}</table:${element}>`.repeat(count)
    : count === 0
      ? ""
      : `<table:${element} table:number-${attribute}-repeated="${count}">${body}</table:${element}>`

const rowsOf = (content: Content, isFlat: boolean): string => {
  let line = 0
  let out = ""
  for (const row of content.rows) {
    out += gap(row.line - line - 1, isFlat, "table-row", "rows", "<table:table-cell/>")
    line = row.line
    let missing = 0
    let cells = ""
    for (const cell of row.cells) {
      if (cell === null) missing++
      else {
        cells += gap(missing, isFlat, "table-cell", "columns") + cellOf(cell)
        missing = 0
      }
    }
    out += `<table:table-row>${cells}<table:table-cell table:number-columns-repeated="${1024 - row.cells.length}"/></table:table-row>`
  }
  return `${out}<table:table-row table:number-rows-repeated="${1_048_576 - line}"><table:table-cell table:number-columns-repeated="1024"/></table:table-row>`
}

const number = (name: string, body: string) => `<number:${name}>${body}</number:${name}>`
const part = (name: string, long = true) => `<number:${name}${long ? ' number:style="long"' : ""}/>`
const DATA_STYLES =
  number(
    'date-style style:name="d"',
    `${part("year")}<number:text>-</number:text>${part("month")}<number:text>-</number:text>${part("day")}`,
  ).replace('</number:date-style style:name="d">', "</number:date-style>") +
  number(
    'date-style style:name="m"',
    `${part("year")}<number:text>-</number:text>${part("month")}<number:text>-</number:text>${part("day")}<number:text> </number:text>${part("hours")}<number:text>:</number:text>${part("minutes")}<number:text>:</number:text>${part("seconds")}`,
  ).replace('</number:date-style style:name="m">', "</number:date-style>") +
  number(
    'time-style style:name="t"',
    `${part("hours")}<number:text>:</number:text>${part("minutes")}<number:text>:</number:text>${part("seconds")}`,
  ).replace('</number:time-style style:name="t">', "</number:time-style>") +
  number(
    'time-style style:name="s" number:truncate-on-overflow="false"',
    `${part("hours")}<number:text>:</number:text>${part("minutes")}<number:text>:</number:text>${part("seconds")}`,
  ).replace('</number:time-style style:name="s" number:truncate-on-overflow="false">', "</number:time-style>")
const cellStyle = (name: string, data: string) =>
  `<style:style style:name="${name}" style:family="table-cell" style:data-style-name="${data}"/>`

export const odsWorkbook = (content: Content, way: OdsWay): Buffer => {
  const xml = `<?xml version="1.0" encoding="UTF-8"?>
<office:document-content xmlns:office="${ODF}:office:1.0" xmlns:table="${ODF}:table:1.0" xmlns:text="${ODF}:text:1.0" xmlns:style="${ODF}:style:1.0" xmlns:number="${ODF}:datastyle:1.0" xmlns:of="${ODF}:of:1.2" xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0" office:version="1.2"><office:automatic-styles>${DATA_STYLES}${cellStyle("day", "d")}${cellStyle("moment", "m")}${cellStyle("time", "t")}${cellStyle("span", "s")}<style:style style:name="away" style:family="table"><style:table-properties table:display="false"/></style:style></office:automatic-styles><office:body><office:spreadsheet>${way.before ?? ""}<table:table table:name="Data"><table:table-column/>${rowsOf(content, way.isFlat === true)}</table:table><table:named-expressions/></office:spreadsheet></office:body></office:document-content>`
  const written = way.xml?.(xml) ?? xml
  const manifest = `<?xml version="1.0"?><manifest:manifest xmlns:manifest="${ODF}:manifest:1.0"><manifest:file-entry manifest:full-path="/" manifest:media-type="${MIMETYPE}"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>`
  return zipOf(
    [
      ...(way.lacksMimetype === true ? [] : [["mimetype", MIMETYPE] as const]),
      ["content.xml", way.bytes?.(written) ?? written],
      ["META-INF/manifest.xml", manifest],
    ],
    way.zip,
  )
}

const hidden = (name: string) =>
  `<table:table table:name="${name}" table:style-name="away"><table:table-row><table:table-cell office:value-type="float" office:value="9"/></table:table-row></table:table>`

const FIRST = "it converts the first sheet, hidden or not"

export const ODS_WAYS: ReadonlyArray<OdsWay> = [
  { name: "as LibreOffice does" },
  { name: "gaps as cells", isFlat: true },
  { name: "a hidden sheet first", elsewhere: FIRST, before: hidden("Old") },
  {
    name: "other prefixes",
    xml: (xml) =>
      xml
        .replaceAll(/(?<=[<\s/:])(table|office|text)(?=[:=])/g, "x$1")
        .replaceAll("opendocument:xmlns:x", "opendocument:xmlns:"),
  },
  { name: "UTF-16", bytes: (xml) => Buffer.from(`\uFEFF${xml.replace("UTF-8", "UTF-16")}`, "utf16le") },
  { name: "no type", lacksMimetype: true },
  { name: "stored", zip: { isStored: true } },
  { name: "spaces as they are", xml: (xml) => xml.replaceAll("<text:s/>", " ").replaceAll("</text:p><text:p>", "\n") },
  {
    name: "grouped rows",
    xml: (xml) =>
      xml.replace(
        /<table:table-row>.*?<\/table:table-row>/s,
        "<table:table-row-group><table:table-header-rows>$&</table:table-header-rows></table:table-row-group>",
      ),
  },
  {
    name: "notes and shapes",
    xml: (xml) =>
      xml
        .replaceAll("<text:p>", "<office:annotation><text:p>a note</text:p></office:annotation><text:p>")
        .replace("<table:table-column/>", "<table:table-column/><table:shapes><text:p>9</text:p></table:shapes>"),
  },
  {
    name: "tracked changes",
    before:
      '<table:tracked-changes><table:deletion><table:cell-content-deletion><table:change-track-table-cell office:value-type="float" office:value="9"/></table:cell-content-deletion></table:deletion></table:tracked-changes>',
  },
]
