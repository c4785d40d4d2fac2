/**
 * Scans the tokens of a JSON text strictly by RFC 8259: no comments, no NaN, no raw control characters. Numbers stay
 * tokens. Characters that PostgreSQL cannot hold in a text (U+0000 and lone surrogates) become U+FFFD and are counted. An
 * error is thrown as `JsonFault`; the parser above converts it to a value.
 */
import { JsonNumber } from "./Json.ts"

/** Thrown where a text is not JSON. */
export class JsonFault {
  readonly reason: string
  readonly at: number
  constructor(reason: string, at: number) {
    this.reason = reason
    this.at = at
  }
}

export class JsonScanner {
  readonly text: string
  /** The index of the next character. */
  at: number
  /** How many characters have been replaced by U+FFFD so far. */
  replaced = 0
  /** Set to true by a caller that needs it; becomes false if the text differs from what `jsonText` would write. */
  plain = true
  /** The keys read last, by their position in the object: the objects of a list usually have the same keys. */
  readonly #keys: Array<string | undefined> = []

  constructor(text: string, at: number) {
    this.text = text
    this.at = at
  }

  /** Skips white space. Returns the code of the next character without consuming it, or NaN at the end. */
  next(): number {
    const text = this.text
    let at = this.at
    let code = text.charCodeAt(at)
    while (code === 32 || code === 10 || code === 13 || code === 9) {
      this.plain = false
      code = text.charCodeAt(++at)
    }
    this.at = at
    return code
  }

  /** Reads a key and the colon after it. The key at the same position of the previous object is tried first. */
  key(place: number): string {
    if (this.next() !== 34) this.expected("a key in double quotes")
    const key = this.#sameKey(place) ?? this.#otherKey(place)
    if (this.next() !== 58) this.expected("a colon after the key")
    this.at++
    return key
  }

  #sameKey(place: number): string | undefined {
    const key = this.#keys[place]
    if (key === undefined || !this.text.startsWith(key, this.at + 1)) return undefined
    const end = this.at + 1 + key.length
    if (this.text.charCodeAt(end) !== 34) return undefined
    this.at = end + 1
    return key
  }

  #otherKey(place: number): string {
    const start = this.at
    const key = this.string()
    // A key with an escape is shorter than its source text, so comparing it with the text would give false matches.
    if (place >= 0) this.#keys[place] = key.length === this.at - start - 2 ? key : undefined
    return key
  }

  /** Reads the string whose opening quote is the next character. */
  string(): string {
    const text = this.text
    const start = this.at
    let at = start + 1
    let escaped = false
    let suspect = false
    for (;;) {
      const code = text.charCodeAt(at)
      if (code === 34) break
      if (code === 92) {
        escaped = true
        if (text.charCodeAt(at + 1) === 117) {
          const unit = hexUnit(text, at + 2)
          if (unit === -1) this.refuse("\\u without four hexadecimal digits after it", at)
          if (unit === 0 || (unit & 0xf800) === 0xd800) suspect = true
          at += 6
        } else {
          if (!isShortEscape(text.charCodeAt(at + 1))) this.refuse("a backslash that is not a JSON escape", at)
          at += 2
        }
        continue
      }
      if (!(code >= 32)) {
        if (code !== code)
          this.refuse(`the text ends inside the string that begins at offset ${start - bomLength(text)}`, at)
        this.refuse(`the control character ${unitName(code)} must be escaped in a string`, at)
      }
      if ((code & 0xf800) === 0xd800) suspect = true
      at++
    }
    this.at = at + 1
    if (escaped || suspect) this.plain = false
    const value: string = escaped ? JSON.parse(text.slice(start, at + 1)) : text.slice(start + 1, at)
    return suspect ? this.storable(value) : value
  }

  /** Reads the number whose first character, a digit or a minus, is next. */
  number(): JsonNumber {
    const text = this.text
    const start = this.at
    let at = start
    let code = text.charCodeAt(at)
    if (code === 45) code = text.charCodeAt(++at)
    if (code === 48) {
      code = text.charCodeAt(++at)
      if (code >= 48 && code <= 57) this.refuse("a number may not begin with 0", at - 1)
    } else {
      if (!(code >= 49 && code <= 57)) this.expected("a digit", at)
      do code = text.charCodeAt(++at)
      while (code >= 48 && code <= 57)
    }
    if (code === 46) {
      code = text.charCodeAt(++at)
      if (!(code >= 48 && code <= 57)) this.expected("a digit after the decimal point", at)
      do code = text.charCodeAt(++at)
      while (code >= 48 && code <= 57)
    }
    if (code === 101 || code === 69) {
      code = text.charCodeAt(++at)
      if (code === 43 || code === 45) code = text.charCodeAt(++at)
      if (!(code >= 48 && code <= 57)) this.expected("a digit in the exponent", at)
      do code = text.charCodeAt(++at)
      while (code >= 48 && code <= 57)
    }
    this.at = at
    return at === start + 1 ? DIGITS[text.charCodeAt(start) - 48]! : new JsonNumber(text.slice(start, at))
  }

  word<A>(word: string, value: A): A {
    if (!this.text.startsWith(word, this.at)) this.expected("a value")
    this.at += word.length
    return value
  }

  /** Fails because the text does not continue as required; the message names the unexpected text. */
  expected(what: string, at: number = this.at): never {
    const code = this.text.codePointAt(at)
    return this.refuse(
      `${what} was expected, ${code === undefined ? "the text ends here" : `found ${named(code)}`}`,
      at,
    )
  }

  /** Fails with this reason. */
  refuse(reason: string, at: number = this.at): never {
    throw new JsonFault(reason, at)
  }

  private storable(value: string): string {
    return value.replace(UNSTORABLE, () => {
      this.replaced++
      return "\uFFFD"
    })
  }
}

/** Shared one-digit numbers, of which a text may contain many. */
const DIGITS = Array.from("0123456789", (digit) => new JsonNumber(digit))

/** In a regular expression that matches code points, the category of surrogates contains only lone ones. */
const UNSTORABLE = /[\0\p{Cs}]/gu

/** 1 if the text begins with a byte order mark, which offsets do not count. */
export const bomLength = (text: string): number => (text.charCodeAt(0) === 0xfeff ? 1 : 0)

const isShortEscape = (code: number): boolean =>
  code === 110 ||
  code === 34 ||
  code === 92 ||
  code === 47 ||
  code === 116 ||
  code === 114 ||
  code === 98 ||
  code === 102

const hexUnit = (text: string, at: number): number => {
  let unit = 0
  const end = at + 4
  for (; at < end; at++) {
    const code = text.charCodeAt(at)
    const digit = code >= 48 && code <= 57 ? code - 48 : (code | 32) >= 97 && (code | 32) <= 102 ? (code | 32) - 87 : -1
    if (digit === -1) return -1
    unit = unit * 16 + digit
  }
  return unit
}

const unitName = (code: number): string => `U+${code.toString(16).toUpperCase().padStart(4, "0")}`

const named = (code: number): string =>
  code <= 32 || code === 127 || code === 0xfffd || (code >= 0xd800 && code <= 0xdfff)
    ? unitName(code)
    : `"${String.fromCodePoint(code)}"`
