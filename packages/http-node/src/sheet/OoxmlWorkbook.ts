/** An Office Open XML workbook: its sheets, and the texts and formats that they share. */
import { partOf, type Relationship, relationships } from "./OoxmlPackage.ts"
import type { SheetContext } from "./OoxmlRows.ts"
import type { Parts } from "./Parts.ts"
import { SharedStrings } from "./SharedStrings.ts"
import { SheetFault } from "./SheetFault.ts"
import { chooseSheets, type ListedSheet } from "./SheetList.ts"
import { Styles } from "./Styles.ts"
import type { XmlHandler, XmlScanner } from "./XmlScanner.ts"
import type { ZipEntry } from "./ZipArchive.ts"

interface WorkbookSheet extends ListedSheet {
  readonly part: ZipEntry | undefined
}

const MAX_SHEETS = 10_000

const OTHERS: Readonly<Record<string, string>> = {
  chartsheet: "a chart",
  dialogsheet: "a dialog",
  xlmacrosheet: "a sheet of macros",
  xlintlmacrosheet: "a sheet of macros",
}

const isTrue = (value: string | undefined): boolean => /^\s*(?:1|true|on)\s*$/i.test(value ?? "")

class WorkbookList implements XmlHandler {
  readonly listed: Array<{ name: string; isShown: boolean; id: string | undefined; number: string | undefined }> = []
  is1904 = false
  #hasRoot = false

  open(name: string, scanner: XmlScanner): void {
    if (!this.#hasRoot) {
      if (name !== "workbook") throw new SheetFault("its list of sheets is not that of a workbook")
      this.#hasRoot = true
    } else if (name === "workbookPr") this.is1904 = isTrue(scanner.get("date1904"))
    else if (name === "sheet") {
      if (this.listed.length >= MAX_SHEETS) throw new SheetFault("it has too many sheets", "too_large")
      this.listed.push({
        name: scanner.get("name") ?? `Sheet${this.listed.length + 1}`,
        isShown: !/^(?:hidden|veryHidden)$/.test(scanner.get("state")?.trim() ?? ""),
        id: scanner.get("r:id") ?? scanner.get("id"),
        number: scanner.get("sheetId"),
      })
    } else if (name !== "sheets") scanner.skip()
  }
  close(): void {}
  text(): void {}
}

const sheetPart = (parts: Parts, target: Relationship | undefined): ZipEntry | undefined =>
  target === undefined ? undefined : parts.find(target.target)

const refersTo = (related: ReadonlyMap<string, Relationship>, kind: string): boolean =>
  [...related.values()].some((one) => one.kind.toLowerCase() === kind)

const rowsPart = (name: string, part: ZipEntry | undefined): ZipEntry => {
  if (part === undefined) throw new SheetFault(`the part of its sheet ${name} is missing`)
  if (/\.bin$/i.test(part.name)) throw new SheetFault("its sheets are binary (.xlsb); save it as .xlsx")
  return part
}

export interface OoxmlWorkbook {
  /** The sheets to read, of which the first with rows counts. */
  readonly sheets: ReadonlyArray<{ readonly name: string; readonly part: () => ZipEntry }>
  /** The names of all sheets. */
  readonly names: ReadonlyArray<string>
  readonly context: SheetContext
}

/** Opens everything that is needed to read the rows of a sheet. */
export const openWorkbook = async (
  parts: Parts,
  workbook: ZipEntry,
  types: ReadonlyMap<string, string>,
  options: {
    readonly wanted: string | undefined
    readonly rowCharacters: number
  },
): Promise<OoxmlWorkbook> => {
  const list = new WorkbookList()
  await parts.readWhole(workbook, list)
  const related = await relationships(parts, workbook.name)
  const folder = workbook.name.slice(0, workbook.name.lastIndexOf("/") + 1)
  const sheets = list.listed.map(({ name, isShown, id, number }, n): WorkbookSheet => {
    const target = id === undefined ? undefined : related.get(id)
    // Without relationships the parts are found by the names that programs give them.
    const guessed = related.size === 0 ? parts.find(`${folder}worksheets/sheet${number ?? n + 1}.xml`) : undefined
    return { name, isShown, other: OTHERS[target?.kind.toLowerCase() ?? ""], part: sheetPart(parts, target) ?? guessed }
  })
  const chosen = chooseSheets(sheets, options.wanted).map(({ name, part }) => ({
    name,
    part: () => rowsPart(name, part),
  }))
  chosen[0]!.part()
  const strings = new SharedStrings()
  const stringsPart = partOf(parts, related, types, "sharedStrings") ?? parts.find(`${folder}sharedStrings.xml`)
  if (stringsPart !== undefined) await parts.readWhole(stringsPart, strings)
  const styles = new Styles()
  const stylesPart = partOf(parts, related, types, "styles") ?? parts.find(`${folder}styles.xml`)
  if (stylesPart !== undefined) await parts.readWhole(stylesPart, styles)
  // Without them, dates would be read as numbers.
  else if (refersTo(related, "styles")) throw new SheetFault("its part styles.xml is missing")
  return {
    sheets: chosen,
    names: sheets.map(({ name }) => name),
    context: {
      texts: strings.texts,
      kinds: styles.kinds(),
      is1904: list.is1904,
      rowCharacters: options.rowCharacters,
    },
  }
}
