/** How the parts of an Office Open XML package refer to each other: content types and relationships. */
import type { Parts } from "./Parts.ts"
import type { XmlHandler, XmlScanner } from "./XmlScanner.ts"
import type { ZipEntry } from "./ZipArchive.ts"

/** The most relationships or content types of a package; a workbook has a handful, and one for each sheet. */
const MAX_LISTED = 20_000

export interface Relationship {
  /** The last segment of its type: `worksheet`, `sharedStrings`, …. */
  readonly kind: string
  /** The part's name in the archive. */
  readonly target: string
}

class Listing implements XmlHandler {
  readonly #seen: (name: string, scanner: XmlScanner) => void
  #count = 0

  constructor(seen: (name: string, scanner: XmlScanner) => void) {
    this.#seen = seen
  }

  open(name: string, scanner: XmlScanner): void {
    if (this.#count++ < MAX_LISTED) this.#seen(name, scanner)
  }
  close(): void {}
  text(): void {}
}

/** The content types by part name, in lower case; those given by file extension are left out. */
export const contentTypes = async (parts: Parts): Promise<ReadonlyMap<string, string>> => {
  const found = new Map<string, string>()
  const entry = parts.find("[Content_Types].xml")
  if (entry === undefined) return found
  const seen = (name: string, scanner: XmlScanner) => {
    if (name !== "Override") return
    const part = scanner.get("PartName")
    const type = scanner.get("ContentType")
    if (part !== undefined && type !== undefined) {
      found.set(part.replaceAll("\\", "/").replace(/^\/+/, "").toLowerCase(), type.trim().toLowerCase())
    }
  }
  await parts.readWhole(entry, new Listing(seen))
  return found
}

const folderOf = (name: string): string => name.slice(0, name.lastIndexOf("/") + 1)

/** A target is relative to the folder of the part that refers to it, unless it begins with a slash. */
export const resolveTarget = (from: string, target: string): string => {
  const [path = ""] = target.replaceAll("\\", "/").split(/[?#]/, 1)
  const segments: Array<string> = []
  for (const segment of (path.startsWith("/") ? path : folderOf(from) + path).split("/")) {
    if (segment === "..") segments.pop()
    else if (segment !== "." && segment !== "") segments.push(segment)
  }
  return segments.join("/")
}

/** The relationships of a part by id, or those of the package if `from` is empty. */
export const relationships = async (parts: Parts, from: string): Promise<ReadonlyMap<string, Relationship>> => {
  const found = new Map<string, Relationship>()
  const folder = folderOf(from)
  const entry = parts.find(`${folder}_rels/${from.slice(folder.length)}.rels`)
  if (entry === undefined) return found
  const seen = (name: string, scanner: XmlScanner) => {
    if (name !== "Relationship" || scanner.get("TargetMode")?.toLowerCase() === "external") return
    const id = scanner.get("Id")
    const target = scanner.get("Target")
    if (id === undefined || target === undefined) return
    const kind =
      scanner
        .get("Type")
        ?.trim()
        .split("/")
        .findLast((segment) => segment !== "") ?? ""
    found.set(id, { kind, target: resolveTarget(from, target) })
  }
  await parts.readWhole(entry, new Listing(seen))
  return found
}

/** The first part of this kind, found by its relationship, else by its content type. */
export const partOf = (
  parts: Parts,
  related: ReadonlyMap<string, Relationship>,
  types: ReadonlyMap<string, string>,
  kind: string,
): ZipEntry | undefined => {
  for (const relationship of related.values()) {
    if (relationship.kind.toLowerCase() !== kind.toLowerCase()) continue
    const entry = parts.find(relationship.target)
    if (entry !== undefined) return entry
  }
  const ending = `.${kind.toLowerCase()}+xml`
  for (const [name, type] of types) {
    const entry = type.endsWith(ending) ? parts.find(name) : undefined
    if (entry !== undefined) return entry
  }
  return undefined
}
