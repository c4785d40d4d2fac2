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

const prefixOf = (uri: string): string => {
  if (uri === "") return ""
  for (const [pattern, prefix] of PREFIXES) if (pattern.test(uri)) return prefix
  return (ODF.exec(uri) ?? OLD_ODF.exec(uri))?.[1] ?? "?"
}

interface Scope {
  readonly depth: number
  readonly outer: ReadonlyMap<string, string>
  readonly declared: number
}

export class XmlNames {
  #prefixes: ReadonlyMap<string, string> = new Map()
  #names = new Map<string, string>()
  readonly #scopes: Array<Scope> = []
  #declared = 0

  /** The declarations of an element that begins at this depth. */
  declare(depth: number, declarations: ReadonlyArray<readonly [prefix: string, uri: string]>): void {
    this.#declared += declarations.length
    if (this.#declared > MAX_DECLARATIONS) throw new SheetFault("it declares too many namespaces")
    this.#scopes.push({ depth, outer: this.#prefixes, declared: declarations.length })
    const prefixes = new Map(this.#prefixes)
    for (const [prefix, uri] of declarations) prefixes.set(prefix, prefixOf(uri))
    this.#prefixes = prefixes
    this.#names = new Map()
  }

  /** The element at this depth has ended. */
  leave(depth: number): void {
    const scope = this.#scopes.at(-1)
    if (scope === undefined || scope.depth !== depth) return
    this.#scopes.pop()
    this.#declared -= scope.declared
    this.#prefixes = scope.outer
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
