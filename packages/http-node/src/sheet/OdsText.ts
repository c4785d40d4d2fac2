/** The text of an OpenDocument cell: its paragraphs, in which white space counts once and more of it is written by elements. */
import { SheetFault } from "./SheetFault.ts"
import { MAX_TOKEN, type XmlScanner } from "./XmlScanner.ts"

/** Spaces that one element may stand for; a cell's text is limited anyway. */
const MAX_SPACES = 100_000

export class OdsText {
  #paragraphs: Array<string> | null = null
  /** White space follows the text so far. */
  #isPending = false
  #text = ""
  /** Of the paragraphs that have ended. */
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

  /** One space at the end is kept, as LibreOffice writes it. */
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

  /** An element inside a paragraph that stands for characters; false if it stands for none. */
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
