/**
 * Reads XML that arrives in pieces, in time linear in its length and in memory bounded by its longest token. It checks
 * that tags match and are closed, so that a truncated or altered document is refused. It does not support document
 * types: their entities could have any size.
 */
import { SheetFault } from "./SheetFault.ts"
import { XmlNames } from "./XmlNames.ts"
import { after, isBlank, XmlFault, xmlText } from "./XmlText.ts"

/** The most characters of a token: a tag, a comment, or a text that is read. */
export const MAX_TOKEN = 1_048_576
const MAX_DEPTH = 256
const MAX_ATTRIBUTES = 256

const [GREATER, LESS, SLASH, EQUALS, EXCLAMATION, QUESTION, DOUBLE, SINGLE] = [62, 60, 47, 61, 33, 63, 34, 39] as const

export interface XmlHandler {
  /** A start tag; its attributes are readable until it returns. */
  readonly open: (name: string, scanner: XmlScanner) => void
  readonly close: (name: string, scanner: XmlScanner) => void
  /** A text, or a part of one, between two tags; only while the scanner's `collects` is set. */
  readonly text: (text: string) => void
}

export class XmlScanner {
  readonly #handler: XmlHandler
  readonly #names = new XmlNames()
  /** The beginning of a token that is not complete yet. */
  #held = ""
  /** Characters that arrived, and where the current token begins. */
  #arrived = 0
  #at = 0
  readonly #stack: Array<string> = []
  #hasEnded = false
  /** The handler gets nothing about elements deeper than this. */
  #skipBelow = Number.POSITIVE_INFINITY
  // The tag passed to the handler.
  #source = ""
  #count = 0
  readonly #spans = new Int32Array(MAX_ATTRIBUTES * 4)
  /** Whether the handler gets the texts that follow. */
  collects = false

  constructor(handler: XmlHandler) {
    this.#handler = handler
  }

  /** Called for a start tag: leaves out the element and all its content. */
  skip(): void {
    this.#skipBelow = this.#stack.length - 1
  }

  /** The value of an attribute of the current tag; undefined if it has none. */
  get(name: string): string | undefined {
    const source = this.#source
    const spans = this.#spans
    for (let n = 0; n < this.#count; n++) {
      const begin = spans[n * 4]!
      const end = spans[n * 4 + 1]!
      const isPlain = end - begin === name.length && source.startsWith(name, begin)
      if (!isPlain && !this.#isNamed(begin, end, name)) continue
      return xmlText(source.slice(spans[n * 4 + 2], spans[n * 4 + 3]))
    }
    return undefined
  }

  #isNamed(begin: number, end: number, name: string): boolean {
    const colon = name.indexOf(":")
    if (colon === -1) return false
    const local = name.length - colon
    if (end - begin < local || !this.#source.startsWith(name.slice(colon), end - local)) return false
    return this.#names.attribute(this.#source.slice(begin, end)) === name
  }

  /** Where the current token begins, in characters from 1. */
  get position(): number {
    return this.#at + 1
  }

  push(piece: string): void {
    this.#arrived += piece.length
    // A piece that cannot complete the held token is not searched again from that token's beginning.
    if (this.#held !== "" && !piece.includes(this.#held.charCodeAt(0) === LESS ? ">" : "<")) {
      this.#hold(this.#held + piece)
      return
    }
    const source = this.#held + piece
    this.#held = ""
    this.#source = source
    const before = this.#arrived - source.length
    for (let at = 0; at < source.length;) {
      this.#at = before + at
      if (source.charCodeAt(at) !== LESS) {
        const end = source.indexOf("<", at)
        if (end === -1) {
          if (this.#isCollecting) this.#hold(source.slice(at))
          return
        }
        if (this.#isCollecting) this.#handler.text(xmlText(this.#bounded(source.slice(at, end))))
        at = end
        this.#at = before + at
      }
      const next = this.#markup(source, at)
      if (next === -1) return this.#hold(source.slice(at))
      at = next
    }
  }

  end(): void {
    if (this.#held !== "" || !this.#hasEnded) throw new XmlFault("it ends before its last element does")
  }

  get #isCollecting(): boolean {
    return this.collects && this.#stack.length > 0 && this.#stack.length <= this.#skipBelow
  }

  #hold(token: string): void {
    this.#held = this.#bounded(token)
  }

  #bounded(token: string): string {
    if (token.length > MAX_TOKEN) {
      throw new SheetFault(`a text or tag in it is longer than ${MAX_TOKEN} characters`, "too_large")
    }
    return token
  }

  /** The end of the markup that begins here; -1 if the rest has not arrived. */
  #markup(source: string, at: number): number {
    const kind = source.charCodeAt(at + 1)
    if (kind === SLASH) return this.#endTag(source, at)
    if (kind === QUESTION) return after(source, "?>", at + 2)
    if (kind === EXCLAMATION) return this.#declaration(source, at)
    return Number.isNaN(kind) ? -1 : this.#startTag(source, at)
  }

  #declaration(source: string, at: number): number {
    if (source.startsWith("<!--", at)) return after(source, "-->", at + 4)
    if (source.startsWith("<![CDATA[", at)) {
      const end = after(source, "]]>", at + 9)
      if (end !== -1 && this.#isCollecting) {
        const text = source.slice(at + 9, end - 3)
        if (text.includes("\0")) throw new XmlFault("a text contains a zero character")
        this.#handler.text(this.#bounded(text).replaceAll(/\r\n?/g, "\n"))
      }
      return end
    }
    if (source.length - at < 9) return -1
    throw new SheetFault("it declares a document type, which is not supported")
  }

  #endTag(source: string, at: number): number {
    const end = source.indexOf(">", at + 2)
    if (end === -1) return -1
    const raw = this.#stack.pop()
    if (raw === undefined || !source.startsWith(raw, at + 2) || !isBlank(source, at + 2 + raw.length, end)) {
      throw new XmlFault(`the end tag ${source.slice(at, Math.min(end + 1, at + 50))} matches no start tag`)
    }
    this.#closed(raw)
    return end + 1
  }

  #closed(raw: string): void {
    const depth = this.#stack.length
    const name = this.#names.element(raw)
    this.#names.leave(depth)
    if (depth === 0) this.#hasEnded = true
    if (depth > this.#skipBelow) return
    if (depth === this.#skipBelow) this.#skipBelow = Number.POSITIVE_INFINITY
    else this.#handler.close(name, this)
  }

  #startTag(source: string, at: number): number {
    let here = at + 1
    let code = source.charCodeAt(here)
    while (code > 32 && code !== GREATER && code !== SLASH) code = source.charCodeAt(++here)
    const raw = source.slice(at + 1, here)
    const end = this.#attributes(source, here)
    if (end === -1) return -1
    if (raw === "" || raw.includes("<")) throw new XmlFault("a tag has no name")
    if (this.#hasEnded) throw new XmlFault("an element follows the last one")
    if (this.#stack.length >= MAX_DEPTH) throw new SheetFault(`its elements are nested more than ${MAX_DEPTH} deep`)
    this.#declareNames()
    this.#stack.push(raw)
    if (this.#stack.length <= this.#skipBelow) this.#handler.open(this.#names.element(raw), this)
    if (source.charCodeAt(end - 2) === SLASH) this.#closed(this.#stack.pop()!)
    return end
  }

  /** Records the positions of the attributes. Returns the end of the tag, or -1. */
  #attributes(source: string, from: number): number {
    const spans = this.#spans
    let count = 0
    let here = from
    for (;;) {
      const before = here
      let code = source.charCodeAt(here)
      while (code <= 32) code = source.charCodeAt(++here)
      if (code === SLASH) {
        code = source.charCodeAt(++here)
        if (Number.isNaN(code)) return -1
        if (code !== GREATER) throw new XmlFault("a tag contains a slash")
      }
      if (code === GREATER) {
        this.#count = count
        return here + 1
      }
      if (Number.isNaN(code)) return -1
      if (here === before) throw new XmlFault("two attributes of a tag are not separated")
      const name = here
      while (code > 32 && code !== EQUALS && code !== GREATER && code !== LESS) code = source.charCodeAt(++here)
      const nameEnd = here
      while (code <= 32) code = source.charCodeAt(++here)
      if (Number.isNaN(code)) return -1
      if (code !== EQUALS || nameEnd === name) throw new XmlFault("an attribute has no name or no value")
      code = source.charCodeAt(++here)
      while (code <= 32) code = source.charCodeAt(++here)
      if (Number.isNaN(code)) return -1
      if (code !== DOUBLE && code !== SINGLE) throw new XmlFault("the value of an attribute is not quoted")
      const close = source.indexOf(code === DOUBLE ? '"' : "'", here + 1)
      if (close === -1) return -1
      if (count === MAX_ATTRIBUTES) throw new SheetFault(`a tag in it has more than ${MAX_ATTRIBUTES} attributes`)
      spans[count * 4] = name
      spans[count * 4 + 1] = nameEnd
      spans[count * 4 + 2] = here + 1
      spans[count * 4 + 3] = close
      count++
      here = close + 1
    }
  }

  #declareNames(): void {
    let declarations: Array<readonly [string, string]> | undefined
    for (let n = 0; n < this.#count; n++) {
      const begin = this.#spans[n * 4]!
      if (!this.#source.startsWith("xmlns", begin)) continue
      const name = this.#source.slice(begin, this.#spans[n * 4 + 1])
      if (name !== "xmlns" && !name.startsWith("xmlns:")) continue
      const uri = xmlText(this.#source.slice(this.#spans[n * 4 + 2], this.#spans[n * 4 + 3]))
      ;(declarations ??= []).push([name.slice(6), uri])
    }
    if (declarations !== undefined) this.#names.declare(this.#stack.length, declarations)
  }
}
