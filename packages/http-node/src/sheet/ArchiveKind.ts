/** Determines whether an archive is a readable workbook, and refuses other kinds by name. */
import type { Parts } from "./Parts.ts"
import { contentTypes, partOf, type Relationship, relationships } from "./OoxmlPackage.ts"
import { SheetFault } from "./SheetFault.ts"
import type { ZipEntry } from "./ZipArchive.ts"

export type ArchiveKind =
  | { readonly kind: "ods"; readonly content: ZipEntry }
  | { readonly kind: "ooxml"; readonly workbook: ZipEntry; readonly types: ReadonlyMap<string, string> }

const OPEN_DOCUMENT = "application/vnd.oasis.opendocument."

const OTHER_DOCUMENTS: Readonly<Record<string, string>> = {
  text: "an OpenDocument text (.odt)",
  presentation: "an OpenDocument presentation (.odp)",
  graphics: "an OpenDocument drawing (.odg)",
  chart: "an OpenDocument chart",
  database: "an OpenDocument database (.odb)",
}

const not = (what: string, advice = "") =>
  new SheetFault(`this is ${what}, not an XLSX or ODS workbook${advice === "" ? "" : `; ${advice}`}`)

/** The most characters read of the part that names an OpenDocument's type, and of its manifest. */
const MIMETYPE_CHARACTERS = 200
const MANIFEST_CHARACTERS = 1_000_000

const openDocument = async (parts: Parts, type: string): Promise<ArchiveKind> => {
  const kind = type.slice(OPEN_DOCUMENT.length).replace(/-.*$/s, "")
  if (kind !== "spreadsheet") throw not(OTHER_DOCUMENTS[kind] ?? "an OpenDocument of another kind")
  const manifest = parts.find("META-INF/manifest.xml")
  const isEncrypted =
    manifest !== undefined && /[<:]encryption-data[\s>/]/.test(await parts.text(manifest, MANIFEST_CHARACTERS))
  const content = parts.find("content.xml")
  if (isEncrypted || parts.find("encrypted-package") !== undefined) {
    throw new SheetFault("it is encrypted; save the workbook without a password")
  }
  if (content === undefined) throw new SheetFault("its part content.xml is missing")
  return { kind: "ods", content }
}

/** The fault of an archive that does not name its type. */
const named = (parts: Parts): SheetFault => {
  const has = (pattern: RegExp) => parts.names.some((name) => pattern.test(name))
  if (has(/^xl\/workbook\.bin$/i)) return binary()
  if (has(/^word\//i)) return not("a Word document (.docx)")
  if (has(/^ppt\//i)) return not("a PowerPoint presentation (.pptx)")
  if (has(/(?:^|\/)(?:Index\.zip|Index\/Document\.iwa)$/))
    return not("an Apple Numbers document", "export it as XLSX or CSV")
  if (has(/^META-INF\/MANIFEST\.MF$/)) return not("a Java archive (.jar)")
  const names = parts.names.slice(0, 5).join(", ").slice(0, 300)
  return not(
    parts.names.length === 0 ? "an empty zip archive" : `a zip archive of other files (${names})`,
    "unpack it first",
  )
}

const binary = () => not("a binary workbook (.xlsb)", "save it as .xlsx")

/** No content type is half as long. The pattern takes time quadratic in the length. */
const MAX_TYPE_LENGTH = 200

const isWorkbook = (type: string): boolean =>
  type.length <= MAX_TYPE_LENGTH && /(?:spreadsheetml|ms-excel)\.[\w.]*main\+xml$/.test(type)

const workbookPart = (
  parts: Parts,
  related: ReadonlyMap<string, Relationship>,
  types: ReadonlyMap<string, string>,
): ZipEntry | undefined => {
  const byType = [...types].find(([name, type]) => isWorkbook(type) && parts.find(name) !== undefined)?.[0]
  return (
    partOf(parts, related, new Map(), "officeDocument") ?? parts.find(byType ?? "") ?? parts.find("xl/workbook.xml")
  )
}

/** Throws a fault that names the archive's kind if it is not a readable workbook. */
export const archiveKind = async (parts: Parts): Promise<ArchiveKind> => {
  const mimetype = parts.find("mimetype")
  const type = mimetype === undefined ? "" : (await parts.text(mimetype, MIMETYPE_CHARACTERS)).trim()
  if (type.startsWith(OPEN_DOCUMENT)) return openDocument(parts, type)
  if (type === "application/epub+zip") throw not("an EPUB book")
  if (/sun\.xml\.calc/.test(type)) throw not("a workbook of OpenOffice 1 (.sxc)", "save it as .ods or .xlsx")
  const types = await contentTypes(parts)
  const workbook = workbookPart(parts, await relationships(parts, ""), types)
  if (workbook === undefined) {
    // Some programs omit the type.
    const content = parts.find("content.xml")
    if (content !== undefined && types.size === 0) return { kind: "ods", content }
    throw named(parts)
  }
  if (/\.bin$/i.test(workbook.name)) throw binary()
  if (/^word\//i.test(workbook.name)) throw not("a Word document (.docx)")
  if (/^ppt\//i.test(workbook.name)) throw not("a PowerPoint presentation (.pptx)")
  return { kind: "ooxml", workbook, types }
}
