/**
 * The text of an OpenDocument cell: its paragraphs, and elements that stand for white space. White space that stands in a
 * paragraph itself is kept as it is: the standard collapses it, but LibreOffice does not, and many programs write the
 * spaces and line breaks of their cells that way.
 */
import { SheetFault } from "./SheetFault.ts"
import { MAX_TOKEN, type XmlScanner } from "./XmlScanner.ts"

/** The most spaces for which one element may stand; a cell's text is limited anyway. */
const MAX_SPACES = 100_000

export class OdsText {
  #paragraphs: Array<string> | null = null
  #text = ""
  /** The length of the completed paragraphs. */
  #length = 0

  /** The text so far; null if there was no paragraph. */
  take(): string | null {
    const paragraphs = this.#paragraphs
    this.#paragraphs = null
    this.#length = 0
    return paragraphs === null ? null : paragraphs.join("\n")
  }

  beginParagraph(): void {
    this.#paragraphs ??= []
    this.#text = ""
  }

  endParagraph(): void {
    this.#paragraphs?.push(this.#text)
    this.#length += this.#text.length + 1
    this.#text = ""
  }

  add(text: string): void {
    this.#text += text
    if (this.#length + this.#text.length > MAX_TOKEN) {
      throw new SheetFault(`the text of a cell is longer than ${MAX_TOKEN} characters`, "too_large")
    }
  }

  /** Handles an element inside a paragraph; false if it stands for no characters. */
  element(name: string, scanner: XmlScanner): boolean {
    if (name === "text:s") {
      const count = Number(scanner.get("text:c") ?? "1")
      this.add(" ".repeat(Number.isInteger(count) && count > 0 ? Math.min(count, MAX_SPACES) : 1))
    } else if (name === "text:tab") this.add("\t")
    else if (name === "text:line-break") this.add("\n")
    else return false
    return true
  }
}
