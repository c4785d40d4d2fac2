/** The texts shared by the cells of a workbook, in order. Phonetic reading aids are not part of a text. */
import { SheetFault } from "./SheetFault.ts"
import type { XmlHandler, XmlScanner } from "./XmlScanner.ts"
import { unescapedText } from "./XmlText.ts"

/** Each takes memory, however short it is. */
const MAX_STRINGS = 16_777_216

/** Formats and reading aids beside the runs of a text. */
export const BESIDE_TEXT: ReadonlySet<string> = new Set(["rPr", "rPh", "phoneticPr"])

/** Extensions have a namespace of their own, or an element for them. */
export const isExtension = (name: string): boolean =>
  name === "extLst" || (name.includes(":") && !name.startsWith("mc:"))

export class SharedStrings implements XmlHandler {
  readonly texts: Array<string> = []
  #scanner: XmlScanner | undefined
  #text = ""
  #isInside = false

  open(name: string, scanner: XmlScanner): void {
    this.#scanner = scanner
    if (name === "si") {
      if (this.texts.length >= MAX_STRINGS) throw new SheetFault("it has too many texts", "too_large")
      this.#text = ""
      this.#isInside = true
    } else if (name === "t" && this.#isInside) scanner.collects = true
    else if (BESIDE_TEXT.has(name) || isExtension(name)) scanner.skip()
    else if (name !== "r" && name !== "sst") {
      throw new SheetFault(`its shared texts contain an element <${name.slice(0, 50)}>, which is not expected there`)
    }
  }

  text(text: string): void {
    this.#text += text
  }

  close(name: string): void {
    if (name === "t") this.#scanner!.collects = false
    if (name !== "si") return
    this.#isInside = false
    this.texts.push(unescapedText(this.#text))
  }
}
