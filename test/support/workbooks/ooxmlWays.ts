/** How programs write one and the same workbook. */
import { letters, type Way } from "./ooxmlWorkbooks.ts"

const TRANSITIONAL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
const MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"

const strict = (xml: string) =>
  xml
    .replaceAll(MAIN, "http://purl.oclc.org/ooxml/spreadsheetml/main")
    .replaceAll(TRANSITIONAL, "http://purl.oclc.org/ooxml/officeDocument/relationships")

/** Every element of the format with a prefix. */
const prefixed = (xml: string, part: string) =>
  /^xl\/(?!_rels)/.test(part)
    ? xml.replaceAll(/<(\/?)(?=[a-zA-Z])/g, "<$1x:").replaceAll(`xmlns="${MAIN}"`, `xmlns:x="${MAIN}"`)
    : xml

const inSheet = (change: (xml: string) => string) => (xml: string, part: string) =>
  part === "xl/worksheets/sheet1.xml" ? change(xml) : xml

const kept = (text: string) => text.replace(/_x(?=[0-9A-F]{4}_)/g, "_x005F_x")

const references = (text: string) =>
  [...kept(text)].map((one) => (/[ -%'-;=?-~]/.test(one) ? one : `&#${one.codePointAt(0)!};`)).join("")

const cdata = (text: string) => `<![CDATA[${kept(text).replaceAll("]]>", "]]]]><![CDATA[>")}]]>`

const utf16 = (mark: boolean, isBig: boolean) => (xml: string) => {
  const bytes = Buffer.from((mark ? "\uFEFF" : "") + xml.replace('encoding="UTF-8"', 'encoding="UTF-16"'), "utf16le")
  return isBig ? bytes.swap16() : bytes
}

export const WAYS: ReadonlyArray<Way> = [
  { name: "as Excel does" },
  { name: "inline texts", texts: "inline" },
  { name: "texts in values", elsewhere: "it leaves out spaces around such texts", texts: "str" },
  { name: "strict namespaces", xml: strict },
  { name: "prefixes", xml: prefixed },
  { name: "prefixes, inline", xml: prefixed, texts: "inline" },
  { name: "UTF-16 with its mark", bytes: utf16(true, false) },
  { name: "UTF-16 of the other order", bytes: utf16(true, true) },
  { name: "UTF-8 with its mark", xml: (xml) => `\uFEFF${xml}` },
  { name: "references for characters", text: references },
  { name: "CDATA", text: cdata },
  {
    name: "names in capitals",
    elsewhere: "it does not open it",
    part: (name) => (name === "[Content_Types].xml" || name === "_rels/.rels" ? name : name.toUpperCase()),
  },
  { name: "SharedStrings.xml", part: (name) => name.replace("sharedStrings", "SharedStrings") },
  { name: "backslashes", elsewhere: "it does not open it", part: (name) => name.replaceAll("/", "\\") },
  {
    name: "another name of the workbook",
    part: (name) => name.replace("workbook.xml", "workbook22.xml"),
    xml: (xml) => xml.replaceAll("xl/workbook.xml", "xl/workbook22.xml"),
  },
  {
    name: "another folder",
    part: (name) => name.replace(/^xl\//, "data/book/"),
    xml: (xml) => xml.replaceAll('"/xl/', '"/data/book/').replaceAll('"xl/', '"data/book/'),
  },
  { name: "absolute targets", xml: (xml) => xml.replaceAll(/Target="(?=[wsc])/g, 'Target="/xl/') },
  {
    name: "targets with dots",
    elsewhere: "it finds no sheet",
    xml: (xml) => xml.replaceAll(/Target="(?=[wsc])/g, 'Target="./../xl/'),
  },
  {
    name: "targets with backslashes",
    elsewhere: "it finds no sheet",
    xml: (xml) => xml.replaceAll('Target="worksheets/', 'Target="worksheets\\'),
  },
  { name: "stored", zip: { isStored: true } },
  { name: "64-bit sizes", elsewhere: "it does not open it", zip: { is64: true } },
  { name: "sizes behind the parts", zip: { hasDescriptors: true } },
  { name: "a comment behind the archive", zip: { comment: "made by hand" } },
  { name: "a program in front of the archive", zip: { before: "PK\x03\x04#!/bin/sh\n".repeat(3) } },
  { name: "no types", elsewhere: "it does not open it", lacks: "types" },
  { name: "no relationship to the texts", elsewhere: "it finds no texts", lacks: "strings' relationship" },
  { name: "no relationships", elsewhere: "it finds no sheet", lacks: "relationships" },
  { name: "no dimension", lacks: "dimension" },
  { name: "a chart first", elsewhere: "it converts the first sheet, whatever that is", before: "chart" },
  { name: "a sheet of macros first", elsewhere: "it converts the first sheet, whatever that is", before: "macro" },
  { name: "a hidden sheet first", elsewhere: "it converts the first sheet, whatever that is", before: "hidden" },
  { name: "1904", is1904: true },
  {
    name: "formats behind the styles",
    styles: ({ formats, xfs }) => `<cellStyleXfs><xf numFmtId="0"/></cellStyleXfs>${xfs}${formats}`,
  },
  { name: "styles alone", styles: ({ formats, xfs }) => formats + xfs },
  { name: "cells in any order", isReversed: true },
  { name: "no numbers of rows", rowNumber: () => undefined },
  { name: "small letters", reference: (column, line) => `${letters(column).toLowerCase()}${line}` },
  {
    name: "comments and spaces",
    xml: inSheet((xml) => xml.replaceAll(/<(?=[/]?(?:row|c|sheetData)[ >])/g, "\n\t<!-- <c> --><?pi <v>1</v>?><")),
  },
  { name: "single quotes", xml: (xml) => xml.replaceAll(/="([^"]*)"/g, " = '$1' ") },
  {
    name: "extensions",
    xml: inSheet((xml) =>
      xml
        .replaceAll("</row>", '<extLst><ext uri="x"><c r="Z1"><v>9</v></c></ext></extLst></row>')
        .replaceAll("</c>", '<e:x xmlns:e="urn:e"><v>9</v></e:x></c>'),
    ),
  },
  {
    name: "empty cells between and behind",
    xml: inSheet((xml) => xml.replaceAll("</row>", '<c s="1"/><c s="1"></c></row>')),
  },
  { name: "namespaces declared again", xml: inSheet((xml) => xml.replaceAll("<row ", `<row xmlns="${MAIN}" `)) },
  {
    name: "no namespace in texts",
    texts: "inline",
    xml: (xml) =>
      xml
        .replaceAll(` xmlns:r="${TRANSITIONAL}"`, "")
        .replaceAll("r:id", "q:id")
        .replaceAll("<workbook ", `<workbook xmlns:q="${TRANSITIONAL}" `),
  },
]

/** These number cells by their order, so they can only write rows without gaps. */
export const DENSE_WAYS: ReadonlyArray<Way> = [
  { name: "no references", reference: () => undefined },
  { name: "neither references nor numbers", reference: () => undefined, rowNumber: () => undefined },
  {
    name: "cells numbered from 0",
    elsewhere: "it reads references of letters and digits alone",
    reference: (column) => String(column - 1),
  },
  {
    name: "cells numbered from 1",
    elsewhere: "it reads references of letters and digits alone",
    reference: (column) => String(column),
  },
  {
    name: "rows and cells from 0",
    elsewhere: "it reads references of letters and digits alone",
    reference: (column, line) => `${letters(column)}${line - 1}`,
    rowNumber: (line) => line - 1,
  },
  {
    name: "references without rows",
    elsewhere: "it reads references of letters and digits alone",
    reference: (column) => letters(column),
  },
]

/** These are of bytes that cannot hold every text. */
export const ASCII_WAY: Way = {
  name: "windows-1251",
  bytes: (xml) => {
    const declared = xml.replace('encoding="UTF-8"', 'encoding="windows-1251"')
    return Buffer.from(
      [...declared].map((one) => {
        const code = one.codePointAt(0)!
        if (code < 128) return code
        if (code >= 0x410 && code <= 0x44f) return code - 0x350
        return { Ё: 0xa8, ё: 0xb8, "«": 0xab, "»": 0xbb }[one] ?? 0x3f
      }),
    )
  },
}
