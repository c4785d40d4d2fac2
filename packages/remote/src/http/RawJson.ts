/** Cuts a JSON text into its parts without reading them, so that no digit of a number is lost. Trusts that it is JSON. */

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPENING = new Set([0x5b, 0x7b])
const CLOSING = new Set([0x5d, 0x7d])
const COMMA = 0x2c
const COLON = 0x3a

/** One past the end of the string that begins at `at`. */
const endOfString = (text: string, at: number): number => {
  for (let i = at + 1; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === BACKSLASH) i++
    else if (code === QUOTE) return i + 1
  }
  return text.length
}

/** The texts between the brackets of an object or list, cut at its own commas, or at those and its own colons. */
const parts = (text: string, separators: ReadonlySet<number>): ReadonlyArray<string> => {
  const whole = text.trim()
  const found: Array<string> = []
  let [depth, start] = [0, 1]
  for (let i = 0; i < whole.length; i++) {
    const code = whole.charCodeAt(i)
    if (code === QUOTE) i = endOfString(whole, i) - 1
    else if (OPENING.has(code)) depth++
    else if (CLOSING.has(code)) depth--
    else if (depth === 1 && separators.has(code)) {
      found.push(whole.slice(start, i).trim())
      start = i + 1
    }
  }
  const last = whole.slice(start, -1).trim()
  return last === "" && found.length === 0 ? found : [...found, last]
}

const COMMAS: ReadonlySet<number> = new Set([COMMA])
const MEMBERS: ReadonlySet<number> = new Set([COMMA, COLON])

/** The elements of a list, each as its text. */
export const elements = (text: string): ReadonlyArray<string> => parts(text, COMMAS)

/** The members of an object by name, each as its text. */
export const members = (text: string): ReadonlyMap<string, string> => {
  const texts = parts(text, MEMBERS)
  const named = new Map<string, string>()
  for (let i = 0; i + 1 < texts.length; i += 2) named.set(JSON.parse(texts[i]!) as string, texts[i + 1]!)
  return named
}
