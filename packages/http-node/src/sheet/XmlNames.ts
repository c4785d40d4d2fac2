/**
 * Names elements and attributes by their namespaces, whatever prefixes a document uses. Names of the workbook formats
 * have no prefix; others have their usual prefix; `?` stands for an unknown namespace.
 */
import { SheetFault } from "./SheetFault.ts"

/** The most declarations in force at once, over all elements. */
const MAX_DECLARATIONS = 500

const PREFIXES: ReadonlyArray<readonly [RegExp, string]> = [
  // Transitional and strict, also under the year of a draft.
  [/\/spreadsheetml\/(?:[\w/]*\/)?main\/?$/, ""],
  [/\/package\/[\w/]*(?:relationships|content-types)\/?$/, ""],
  [/\/officeDocument\/(?:[\w/]*\/)?relationships\/?$/, "r"],
  [/\/markup-compatibility\/2006$/, "mc"],
]

const ODF = /^urn:(?:oasis:names:tc:opendocument|org:documentfoundation:names:experimental:\w+):xmlns:(\w+)(?::|$)/
const OLD_ODF = /^http:\/\/openoffice\.org\/2\d\d\d\/(\w+)$/

/** No known namespace is half as long. The patterns take time quadratic in the length. */
const MAX_URI_LENGTH = 200

const prefixOf = (uri: string): string => {
  if (uri === "") return ""
  if (uri.length > MAX_URI_LENGTH) return "?"
  for (const [pattern, prefix] of PREFIXES) if (pattern.test(uri)) return prefix
  return (ODF.exec(uri) ?? OLD_ODF.exec(uri))?.[1] ?? "?"
}

/** The declarations of an element, with what each prefix stood for outside it. */
interface Scope {
  readonly depth: number
  readonly outer: ReadonlyArray<readonly [prefix: string, stoodFor: string | undefined]>
}

export class XmlNames {
  readonly #prefixes = new Map<string, string>()
  #names = new Map<string, string>()
  readonly #scopes: Array<Scope> = []
  #declared = 0

  /** The declarations of an element that begins at this depth. */
  declare(depth: number, declarations: ReadonlyArray<readonly [prefix: string, uri: string]>): void {
    this.#declared += declarations.length
    if (this.#declared > MAX_DECLARATIONS) throw new SheetFault("it declares too many namespaces")
    // Keeps only the changes: copying all declarations for each element would take time in proportion to their number.
    const outer = declarations.map(([prefix, uri]) => {
      const stoodFor = this.#prefixes.get(prefix)
      this.#prefixes.set(prefix, prefixOf(uri))
      return [prefix, stoodFor] as const
    })
    this.#scopes.push({ depth, outer })
    this.#names = new Map()
  }

  /** The element at this depth has ended. */
  leave(depth: number): void {
    const scope = this.#scopes.at(-1)
    if (scope === undefined || scope.depth !== depth) return
    this.#scopes.pop()
    this.#declared -= scope.outer.length
    for (const [prefix, stoodFor] of scope.outer.toReversed()) {
      if (stoodFor === undefined) this.#prefixes.delete(prefix)
      else this.#prefixes.set(prefix, stoodFor)
    }
    this.#names = new Map()
  }

  /** The name of an element. An undeclared prefix stays unchanged. */
  element(raw: string): string {
    let name = this.#names.get(raw)
    if (name === undefined) {
      const colon = raw.indexOf(":")
      name = this.#named(colon === -1 ? "" : raw.slice(0, colon), raw.slice(colon + 1))
      if (this.#names.size < MAX_DECLARATIONS) this.#names.set(raw, name)
    }
    return name
  }

  /** The name of an attribute that has a prefix. */
  attribute(raw: string): string {
    const colon = raw.indexOf(":")
    return this.#named(raw.slice(0, colon), raw.slice(colon + 1))
  }

  #named(prefix: string, local: string): string {
    const known = this.#prefixes.get(prefix) ?? prefix
    return known === "" ? local : `${known}:${local}`
  }
}
