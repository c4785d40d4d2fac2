/**
 * Recognizes Polish, Czech, Slovak, Hungarian, Croatian, Slovenian and Romanian by their letters, in a text that reads badly
 * as windows-1252. Each language is an alphabet: the one to which nearly all letters beyond ASCII belong decides.
 */
import { charsetOf, WINDOWS_1252 } from "./Charset.ts"
import type { Charset } from "./Charset.ts"

const CENTRAL = ["ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "čćđšž", "ăâîşţ"]
const WESTERN = [
  "àâæçéèêëîïôœùûüÿ",
  "äöüß",
  "áéíñóúüç",
  "ãõáâàçéêíóôúü",
  "àèéìíîòóùú",
  "åäöæøéüà",
  "áðéíóúýþæö",
  "äëïéèöüõšž",
]

/** Signs of every language, which decide nothing. */
const SIGNS = "„“”‘’‚–—…•«»°§©®™€\u00A0\u00AD"

/** Fewer letters say too little. */
const LEAST_LETTERS = 6
/** The share of letters that the alphabet must have, and by how much it must exceed that of any western one. */
const LEAST_SHARE = 0.97
const LEAST_LEAD = 0.1

/** How often each byte above 127 occurs. */
const highBytes = (bytes: Buffer): ReadonlyMap<number, number> => {
  const times = new Map<number, number>()
  for (const byte of bytes) if (byte > 127) times.set(byte, (times.get(byte) ?? 0) + 1)
  return times
}

/** The largest share of letters that one of these alphabets has. */
const bestShare = (times: ReadonlyMap<number, number>, charset: Charset, alphabets: ReadonlyArray<string>): number => {
  const letters = [...times].flatMap(([byte, count]) => {
    const letter = String.fromCharCode(charset.table![byte]!).toLowerCase()
    return SIGNS.includes(letter) ? [] : [{ letter, count }]
  })
  const all = letters.reduce((sum, { count }) => sum + count, 0)
  if (all < LEAST_LETTERS) return 0
  const shareOf = (alphabet: string) =>
    letters.reduce((sum, { letter, count }) => sum + (alphabet.includes(letter) ? count : 0), 0) / all
  return alphabets.reduce((most, alphabet) => Math.max(most, shareOf(alphabet)), 0)
}

/** The charset of a text in one of these languages; null unless its letters are clearly theirs. */
export const centralCharset = (bytes: Buffer): Charset | null => {
  const times = highBytes(bytes)
  const western = bestShare(times, WINDOWS_1252, WESTERN)
  const found = ["windows-1250", "iso-8859-2"].map((name) => {
    const charset = charsetOf(name)!
    return { charset, share: bestShare(times, charset, CENTRAL) }
  })
  const best = found[1]!.share > found[0]!.share ? found[1]! : found[0]!
  return best.share >= LEAST_SHARE && best.share - western >= LEAST_LEAD ? best.charset : null
}
