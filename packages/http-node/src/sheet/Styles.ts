/** Which cells of a workbook are dates, times and durations, by the number formats of their styles. */
import { builtInKind, codeKind, type NumberKind } from "./NumberFormat.ts"
import { SheetFault } from "./SheetFault.ts"
import type { XmlHandler, XmlScanner } from "./XmlScanner.ts"

/** Excel allows 65,490. */
const MAX_STYLES = 1_000_000

interface Style {
  readonly format: string | undefined
  /** The style that it is based on. */
  readonly base: string | undefined
}

export class Styles implements XmlHandler {
  readonly #codes = new Map<string, NumberKind>()
  readonly #lists: Readonly<Record<string, Array<Style>>> = { cellXfs: [], cellStyleXfs: [] }
  #list: Array<Style> | undefined

  open(name: string, scanner: XmlScanner): void {
    if (name === "numFmt") {
      const id = scanner.get("numFmtId")?.trim()
      if (id !== undefined && this.#codes.size < MAX_STYLES)
        this.#codes.set(id, codeKind(scanner.get("formatCode") ?? ""))
      // Other elements hold formats of differences and tables.
    } else if (name === "cellXfs" || name === "cellStyleXfs") this.#list = this.#lists[name]
    else if (name === "xf" && this.#list !== undefined) {
      if (this.#list.length >= MAX_STYLES) throw new SheetFault("it has too many styles", "too_large")
      this.#list.push({ format: scanner.get("numFmtId")?.trim(), base: scanner.get("xfId") })
    } else if (name === "dxfs" || name === "tableStyles") scanner.skip()
  }

  close(name: string): void {
    if (name === "cellXfs" || name === "cellStyleXfs") this.#list = undefined
  }
  text(): void {}

  /** Kinds by the index that cells refer to. */
  kinds(): ReadonlyArray<NumberKind> {
    const bases = this.#lists["cellStyleXfs"]!
    return this.#lists["cellXfs"]!.map(({ format, base }) => {
      const id = format ?? (base === undefined ? undefined : bases[Number(base)]?.format) ?? "0"
      return this.#codes.get(id) ?? builtInKind(Number(id))
    })
  }
}
