/** XLSX workbooks of a content, in the many ways that programs write them. */
import type { Cell, Content, WrittenCell } from "./contents.ts"
import { type ZipWays, zipOf } from "./zipOf.ts"

const MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
const RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
const PACKAGE = "http://schemas.openxmlformats.org/package/2006"
const TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml."

/** In the order of the styles in `contents.ts`. */
const FORMATS = [0, 14, 20, 46, 22, 164, 165, 9, 166]
const OWN = [
  [164, "dd/mm/yyyy;@"],
  [165, "yyyy\\-mm\\-dd hh:mm:ss"],
  [166, "[hh]:mm"],
] as const

export type Texts = "shared" | "inline" | "str"

export interface Way {
  readonly name: string
  /** Why LibreOffice shows other cells, or none. */
  readonly elsewhere?: string
  readonly texts?: Texts
  /** The reference of a cell, and the number of a row; undefined to leave it out. */
  readonly reference?: (column: number, line: number) => string | undefined
  readonly rowNumber?: (line: number) => number | undefined
  readonly is1904?: boolean
  readonly isReversed?: boolean
  /** Other sheets before it. */
  readonly before?: "chart" | "hidden" | "macro"
  readonly lacks?: "types" | "relationships" | "strings' relationship" | "dimension"
  readonly styles?: (parts: { readonly formats: string; readonly xfs: string }) => string
  readonly text?: (escaped: string) => string
  readonly xml?: (xml: string, part: string) => string
  readonly part?: (name: string) => string
  readonly bytes?: (xml: string) => Buffer
  readonly zip?: ZipWays
}

const escaped = (text: string) =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replace(/_x(?=[0-9A-F]{4}_)/g, "_x005F_x")

export const letters = (column: number): string =>
  column > 26
    ? letters(Math.floor((column - 1) / 26)) + letters(((column - 1) % 26) + 1)
    : String.fromCharCode(64 + column)

class Writer {
  readonly #way: Way
  readonly strings: Array<string> = []

  constructor(way: Way) {
    this.#way = way
  }

  #rich({ text, runs, aid }: Extract<WrittenCell, { kind: "text" }>): string {
    const one = (part: string) => `<t xml:space="preserve">${(this.#way.text ?? escaped)(part)}</t>`
    const body = runs === undefined ? one(text) : runs.map((run) => `<r><rPr><b/></rPr>${one(run)}</r>`).join("")
    return aid === undefined ? body : `${body}<rPh sb="0" eb="2"><t>${aid}</t></rPh><phoneticPr fontId="1"/>`
  }

  cell({ written }: Cell, reference: string): string {
    switch (written.kind) {
      case "text": {
        const texts = this.#way.texts ?? "shared"
        if (texts === "inline") return `<c${reference} t="inlineStr"><is>${this.#rich(written)}</is></c>`
        if (texts === "str") return `<c${reference} t="str"><v>${(this.#way.text ?? escaped)(written.text)}</v></c>`
        this.strings.push(`<si>${this.#rich(written)}</si>`)
        return `<c${reference} t="s"><v>${this.strings.length - 1}</v></c>`
      }
      case "number":
        return `<c${reference}${written.style === undefined ? "" : ` s="${written.style}"`}><v>${written.token}</v></c>`
      case "moment": {
        const days = this.#way.is1904 === true && written.days > 1462 ? written.days - 1462 : written.days
        return `<c${reference} s="${written.style}"><v>${days}</v></c>`
      }
      case "boolean":
        return `<c${reference} t="b"><v>${written.value ? 1 : 0}</v></c>`
      case "error":
        return `<c${reference} t="e"><v>${written.text}</v></c>`
      case "formula":
        return `<c${reference}><f>${written.formula}</f><v>${written.token}</v></c>`
    }
  }

  row({ line, cells }: Content["rows"][number]): string {
    const { reference = (column, row) => `${letters(column)}${row}`, rowNumber = (row) => row, isReversed } = this.#way
    const written = cells.flatMap((cell, n) => {
      const own = reference(n + 1, line)
      return cell === null ? [] : [this.cell(cell, own === undefined ? "" : ` r="${own}"`)]
    })
    const number = rowNumber(line)
    const inOrder = isReversed === true ? written.toReversed() : written
    return `<row${number === undefined ? "" : ` r="${number}"`}>${inOrder.join("")}</row>`
  }
}

const BEFORE = {
  chart: [
    "Chart",
    "",
    "chartsheet",
    "chartsheets/sheet9.xml",
    `<chartsheet xmlns="${MAIN}"><sheetViews/></chartsheet>`,
  ],
  macro: [
    "Macro",
    "",
    "xlMacrosheet",
    "macrosheets/sheet9.xml",
    `<xm:macrosheet xmlns:xm="http://schemas.microsoft.com/office/excel/2006/main"/>`,
  ],
  hidden: [
    "Old",
    ' state="hidden"',
    "worksheet",
    "worksheets/sheet9.xml",
    `<worksheet xmlns="${MAIN}"><sheetData><row r="1"><c r="A1"><v>9</v></c></row></sheetData></worksheet>`,
  ],
} as const

/** The archive of this content, written this way. */
export const ooxmlWorkbook = (content: Content, way: Way): Buffer => {
  const writer = new Writer(way)
  const rows = content.rows.map((row) => writer.row(row)).join("")
  const before = way.before === undefined ? undefined : BEFORE[way.before]
  const formats = `<numFmts>${OWN.map(([id, code]) => `<numFmt numFmtId="${id}" formatCode="${code}"/>`).join("")}</numFmts>`
  const xfs = `<cellXfs>${FORMATS.map((id) => `<xf numFmtId="${id}" xfId="0" applyNumberFormat="1"/>`).join("")}</cellXfs>`
  const bases =
    '<fonts><font/></fonts><fills><fill/></fills><borders><border/></borders><cellStyleXfs><xf numFmtId="0"/></cellStyleXfs>'
  const related = (id: number, kind: string, target: string) =>
    `<Relationship Id="rId${id}" Type="${RELATED}/${kind}" Target="${target}"/>`
  const override = (part: string, type: string) => `<Override PartName="/${part}" ContentType="${TYPE}${type}+xml"/>`
  const hasStrings = writer.strings.length > 0
  const parts: Array<readonly [string, string]> = [
    [
      "[Content_Types].xml",
      `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${
        way.lacks === "types"
          ? ""
          : override("xl/workbook.xml", "sheet.main") +
            override("xl/worksheets/sheet1.xml", "worksheet") +
            override("xl/styles.xml", "styles") +
            (hasStrings ? override("xl/sharedStrings.xml", "sharedStrings") : "")
      }</Types>`,
    ],
    [
      "_rels/.rels",
      `<Relationships xmlns="${PACKAGE}/relationships">${related(1, "officeDocument", "xl/workbook.xml")}</Relationships>`,
    ],
    [
      "xl/workbook.xml",
      `<workbook xmlns="${MAIN}" xmlns:r="${RELATED}"><workbookPr${way.is1904 === true ? ' date1904="1"' : ""}/><sheets>${
        before === undefined ? "" : `<sheet name="${before[0]}" sheetId="9"${before[1]} r:id="rId9"/>`
      }<sheet name="Data" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    ],
    [
      "xl/_rels/workbook.xml.rels",
      `<Relationships xmlns="${PACKAGE}/relationships">${related(1, "worksheet", "worksheets/sheet1.xml")}${related(2, "styles", "styles.xml")}${
        hasStrings && way.lacks !== "strings' relationship" ? related(3, "sharedStrings", "sharedStrings.xml") : ""
      }${before === undefined ? "" : related(9, before[2], before[3])}</Relationships>`,
    ],
    [
      "xl/styles.xml",
      `<styleSheet xmlns="${MAIN}">${(way.styles ?? ((given) => given.formats + bases + given.xfs))({ formats, xfs })}</styleSheet>`,
    ],
    [
      "xl/worksheets/sheet1.xml",
      `<worksheet xmlns="${MAIN}" xmlns:r="${RELATED}">${way.lacks === "dimension" ? "" : '<dimension ref="A1:B2"/>'}<sheetData>${rows}</sheetData></worksheet>`,
    ],
    ...(hasStrings ? [["xl/sharedStrings.xml", `<sst xmlns="${MAIN}">${writer.strings.join("")}</sst>`] as const] : []),
    ...(before === undefined ? [] : [[`xl/${before[3]}`, before[4]] as const]),
  ]
  const kept = parts.filter(([name]) => way.lacks !== "relationships" || name !== "xl/_rels/workbook.xml.rels")
  return zipOf(
    kept.map(([name, body]) => {
      const declared = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${body}`
      const xml = way.xml?.(declared, name) ?? declared
      return [way.part?.(name) ?? name, way.bytes?.(xml) ?? Buffer.from(xml)] as const
    }),
    way.zip,
  )
}
