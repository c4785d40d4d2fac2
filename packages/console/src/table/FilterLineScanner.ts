/** Reads a filter line from left to right: its words, quoted texts and signs. What is wrong ends the reading. */
import type { LineFault } from "../words/English.ts"
import { AND, OR, SPACE } from "./FilterLineText.ts"

/** A fault, and its place as an index into the line. */
export interface LineError {
  readonly fault: LineFault
  readonly at: number
}

export class Refused extends Error {
  readonly error: LineError
  constructor(error: LineError) {
    super(error.fault)
    this.error = error
  }
}

/** As in JSON; only they are escaped. */
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/uy
const TEXT = /"[^"\\]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\]*)*"/uy

const CLOSING: Readonly<Record<string, string>> = { "'": "'", "“": "”", "„": "“", "«": "»" }

export class LineScanner {
  readonly #line: string
  #at = 0

  constructor(line: string) {
    this.#line = line
    this.skipSpace()
  }

  get at(): number {
    return this.#at
  }

  get isAtEnd(): boolean {
    return this.#at === this.#line.length
  }

  /** A text in quotes of any kind. */
  quoted(): string | undefined {
    const open = this.#line[this.#at] ?? ""
    if (open === '"') {
      const text = this.take(TEXT)?.slice(1, -1) ?? this.#refuseText()
      return text.replaceAll(new RegExp(ESCAPE, "gu"), (escape) => JSON.parse(`"${escape}"`) as string)
    }
    const close = CLOSING[open]
    if (close === undefined) return undefined
    const from = this.#at + 1
    const to = this.#line.indexOf(close, from)
    if (to < 0) return this.refuse("quote")
    this.#at = to + 1
    this.skipSpace()
    return this.#line.slice(from, to)
  }

  /** A text without its end, or with a wrong backslash. */
  #refuseText(): never {
    const from = this.#at
    for (let at = this.#line.indexOf("\\", from); at >= 0; at = this.#line.indexOf("\\", ESCAPE.lastIndex)) {
      ESCAPE.lastIndex = at
      if (!ESCAPE.test(this.#line)) this.refuse("escape", at)
    }
    return this.refuse("quote", from)
  }

  /** A bare word that joins no conditions. */
  word(pattern: RegExp): string | undefined {
    const from = this.#at
    if (!this.skip(AND) && !this.skip(OR)) return this.take(pattern)
    this.#at = from
    return undefined
  }

  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const [found] = pattern.exec(this.#line) ?? []
    if (found === undefined) return undefined
    this.#at += found.length
    this.skipSpace()
    return found
  }

  skip(pattern: RegExp): boolean {
    return this.take(pattern) !== undefined
  }

  has(sign: string): boolean {
    if (!this.#line.startsWith(sign, this.#at)) return false
    this.#at += sign.length
    this.skipSpace()
    return true
  }

  skipSpace(): void {
    SPACE.lastIndex = this.#at
    this.#at += SPACE.exec(this.#line)?.[0].length ?? 0
  }

  refuse(fault: LineFault, at: number = this.#at): never {
    throw new Refused({ fault, at })
  }
}
