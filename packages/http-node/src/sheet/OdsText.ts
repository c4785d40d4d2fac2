/**
 * The text of an OpenDocument cell: its paragraphs, in which runs of white space collapse, and elements stand for
 * further white space.
 */
import { SheetFault } from "./SheetFault.ts"
import { MAX_TOKEN, type XmlScanner } from "./XmlScanner.ts"

/** The most spaces for which one element may stand; a cell's text is limited anyway. */
const MAX_SPACES = 100_000

export class OdsText {
  #paragraphs: Array<string> | null = null
  /** White space follows the text so far. */
  #isPending = false
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
    this.#isPending = false
  }

  /** Keeps one space at the end, as LibreOffice does. */
  endParagraph(): void {
    if (this.#isPending) this.#exact("")
    this.#paragraphs?.push(this.#text)
    this.#length += this.#text.length + 1
    this.#text = ""
  }

  add(raw: string): void {
    const text = raw.replaceAll(/[\t\n\r ]+/g, " ")
    for (const [n, word] of text.split(" ").entries()) {
      if (n > 0) this.#isPending = this.#text !== "" || this.#isPending
      if (word === "") continue
      this.#exact(word)
    }
  }

  /** Handles an element inside a paragraph; false if it stands for no characters. */
  element(name: string, scanner: XmlScanner): boolean {
    if (name === "text:s") {
      const count = Number(scanner.get("text:c") ?? "1")
      this.#exact(" ".repeat(Number.isInteger(count) && count > 0 ? Math.min(count, MAX_SPACES) : 1))
    } else if (name === "text:tab") this.#exact("\t")
    else if (name === "text:line-break") this.#exact("\n")
    else return false
    return true
  }

  #exact(text: string): void {
    if (this.#isPending) this.#text += " "
    this.#isPending = false
    this.#text += text
    if (this.#length + this.#text.length > MAX_TOKEN) {
      throw new SheetFault(`the text of a cell is longer than ${MAX_TOKEN} characters`, "too_large")
    }
  }
}
