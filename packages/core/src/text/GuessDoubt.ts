/**
 * Judges a guessed charset: whether the bytes read as plausible text in it. Letters are rated by how often languages use
 * them, and by case: a capital after a small letter marks the wrong charset. Other Cyrillic charsets, and the Hebrew one, whose letters
 * lie where the small Cyrillic ones do, are rated the same way.
 */
import { centralCharset } from "./CentralEurope.ts"
import { charsetOf, UTF_8, WINDOWS_1251, WINDOWS_1252 } from "./Charset.ts"
import type { Charset } from "./Charset.ts"
import { mayBeTwoBytes } from "./ShortGuess.ts"

/** The result of judging a guess. */
export interface GuessVerdict {
  /** The charset to read: the guessed one, or another in which the text is far more plausible. */
  readonly charset: Charset
  /** Whether the text is plausible in the guessed charset, and more so than in any other. */
  readonly isClear: boolean
}

/** More bytes add no information. */
const MAX_SAMPLE = 65_536

/** Judges the charset that was guessed for these bytes. UTF-8 is always clear. */
export const judgeGuess = (bytes: Buffer, guess: Charset): GuessVerdict => {
  if (guess === UTF_8) return { charset: guess, isClear: true }
  const sample = bytes.length > MAX_SAMPLE ? bytes.subarray(0, MAX_SAMPLE) : bytes
  if (guess !== WINDOWS_1251) {
    if (guess !== WINDOWS_1252 || isPlausibleLatin(sample)) return { charset: guess, isClear: true }
    return { charset: centralCharset(sample) ?? guess, isClear: false }
  }
  const own = rate(sample, ratings(WINDOWS_1251))
  const isTwoBytes = own.high <= FEW && mayBeTwoBytes(sample)
  const isOnlySigns = own.letters === 0 && own.score >= own.high * SIGN
  if (isOnlySigns && own.high === 1) return { charset: guess, isClear: !isTwoBytes && !dividesWord(sample) }
  const isUsual = own.flaws === 0 && own.high >= ENOUGH && own.score >= own.high * USUAL
  if (isUsual && !mayBeHebrew(sample)) return { charset: guess, isClear: true }
  let best = Number.NEGATIVE_INFINITY
  let koi8 = Number.NEGATIVE_INFINITY
  let rival: Charset = guess
  for (const name of RIVALS) {
    const other = charsetOf(name)!
    const score = rate(sample, ratings(other)).score + (name === HEBREW ? UNEXPECTED : 0)
    if (KOI8.has(name)) koi8 = Math.max(koi8, score)
    if (score <= best) continue
    best = score
    rival = other
  }
  if (isOnlySigns)
    return { charset: guess, isClear: !isTwoBytes && !dividesWord(sample) && best - own.score < own.high * WORD }
  const isPlausible = own.score >= own.high * USUAL - Math.sqrt(own.high) * DEVIATION
  // A lone letter is a letter in every Cyrillic charset, and each of two readings of a short word may be meant.
  const isShortWord = own.high === 1 || (own.high <= FEW && own.score - koi8 < FEW_NEAR)
  const isFar = best - own.score >= FAR && best >= own.high * USUAL
  return {
    charset: isFar ? rival : guess,
    isClear: isPlausible && own.score - best >= NEAR && !isShortWord && !isTwoBytes,
  }
}

const KOI8: ReadonlySet<string> = new Set(["koi8-r", "koi8-u"])
/** Of two that rate the text the same, the first counts. */
const HEBREW = "windows-1255"
const RIVALS = ["koi8-r", "koi8-u", "ibm866", "x-mac-cyrillic", "iso-8859-5", HEBREW]
/** A few letters are as likely in Hebrew as in Cyrillic, which is far more common here. */
const UNEXPECTED = -60

/** A letter's usual rating in plausible text, and how far a short text may stay below it. */
const USUAL = -35
const DEVIATION = 26
/** From so many bytes on, a plausible text without a flaw need not be compared, which takes most of the time. */
const ENOUGH = 16
/** With a smaller difference, either charset may be right. */
const NEAR = 0
/** A word of at most so many letters must be this much more plausible than in KOI8, where it has the other case. */
const FEW = 4
const FEW_NEAR = 30
/** Signs alone may be a word in another charset if that is this much more plausible, for each of them. */
const WORD = 30
/** From this difference on, the other charset is certain enough to be read. */
const FAR = 150

/** Ratings of small letters: tenths of the natural logarithm of their frequency, the best of several languages. */
const LETTERS: Readonly<Record<string, number>> = {
  о: -22, е: -25, а: -25, и: -26, н: -27, т: -28, с: -29, р: -30, в: -31, л: -31, к: -34, м: -34, д: -35, п: -36, у: -36,
  я: -39, ы: -40, ь: -41, г: -41, з: -41, б: -41, ч: -42, й: -44, х: -46, ж: -47, ш: -49, ю: -51, ц: -53, щ: -50, э: -45,
  ф: -50, ъ: -45, ё: -55, і: -36, ї: -48, є: -48, ґ: -70, ў: -60, ј: -60, љ: -65, њ: -60, ћ: -60, ђ: -65, џ: -70, ѓ: -80, ќ: -80,
  ѕ: -80,
  י: -22, ה: -23, ו: -23, ל: -27, א: -28, ת: -29, ר: -29, ב: -30, ש: -31, מ: -31, ע: -34, נ: -35, ם: -36, ד: -37, ח: -37, ק: -38,
  כ: -38, פ: -40, ס: -42, ט: -43, ן: -43, צ: -43, ג: -44, ז: -46, ך: -48, ף: -58, ץ: -62,
} // prettier-ignore

const SIGNS = "«»—–№…„“”‘’•·©®°§€\u00A0"
const SIGN = -70
const STRANGE = -100
/** Characters with at most this rating occur in few texts. */
const RARE = -60
const CAPITAL = -15
const CAPITAL_AFTER_CAPITAL = -1
const CAPITAL_AFTER_SMALL = -60
const SMALL_AFTER_CAPITALS = -40
const LETTER_AFTER_SIGN = -40

const NO_LETTER = 0
const SMALL = 1
const CAPITAL_LETTER = 2
/** The second of two capitals, and each after it. */
const NEXT_CAPITAL = 3
const LAST_SIGN = 4

/** Signs that no letter follows, and the Hebrew letters that end a word. */
const LAST_SIGNS = "»–—…”•€®©§ךםןףץ"

interface Ratings {
  readonly rating: Int16Array
  readonly kind: Uint8Array
}

const ratingsOf = new Map<Charset, Ratings>()

const ratings = (charset: Charset): Ratings => {
  const known = ratingsOf.get(charset)
  if (known !== undefined) return known
  const rating = new Int16Array(256)
  const kind = new Uint8Array(256)
  for (let byte = 128; byte < 256; byte++) {
    const character = String.fromCharCode(charset.table![byte]!)
    const small = character.toLowerCase()
    const letter = LETTERS[small]
    rating[byte] = letter ?? (SIGNS.includes(character) ? SIGN : STRANGE)
    if (LAST_SIGNS.includes(character)) kind[byte] = LAST_SIGN
    else if (letter !== undefined) kind[byte] = small === character ? SMALL : CAPITAL_LETTER
  }
  const made = { rating, kind }
  ratingsOf.set(charset, made)
  return made
}

interface Rated {
  readonly score: number
  /** Bytes above 127, and how many of them are letters. */
  readonly high: number
  readonly letters: number
  /** Rare characters, and letters in an unusual place. */
  readonly flaws: number
}

const rate = (bytes: Buffer, { rating, kind }: Ratings): Rated => {
  let score = 0
  let high = 0
  let letters = 0
  let flaws = 0
  let before = NO_LETTER
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte < 128) {
      before = NO_LETTER
      continue
    }
    high++
    score += rating[byte]!
    if (rating[byte]! <= RARE) flaws++
    let now = kind[byte]!
    if (now === SMALL || now === CAPITAL_LETTER) letters++
    if (before === LAST_SIGN && (now === SMALL || now === CAPITAL_LETTER)) score += LETTER_AFTER_SIGN
    if (now === SMALL && before === NEXT_CAPITAL) {
      score += SMALL_AFTER_CAPITALS
      flaws++
    }
    if (now === CAPITAL_LETTER && (before === CAPITAL_LETTER || before === NEXT_CAPITAL)) {
      score += CAPITAL_AFTER_CAPITAL
      now = NEXT_CAPITAL
    } else if (now === CAPITAL_LETTER) {
      score += before === SMALL ? CAPITAL_AFTER_SMALL : CAPITAL
      if (before === SMALL) flaws++
    }
    before = now
  }
  return { score, high, letters, flaws }
}

/** Whether the text has no letters but those that are Hebrew in windows-1255: no capitals, and none of ы, ь, э, ю, я. */
const mayBeHebrew = (bytes: Buffer): boolean => bytes.every((byte) => byte < 0xc0 || (byte >= 0xe0 && byte <= 0xfa))

/** Bytes of windows-1252 that occur in no word of its languages, or hardly any: Đ, ð, Þ, þ, Ý, ý, ×, ÷, Ÿ, Š, Ž. */
const RARE_LETTERS = new Set([0xd0, 0xde, 0xdd, 0xd7, 0xf0, 0xfe, 0xfd, 0xf7, 0x9f, 0x8a, 0x8e, 0x9a, 0x9e])
/** Signs that may be next to letters: € … ‘’“” •–— ™ « » ª º ° · ' ´ ² ³ © ® and the space. */
const LATIN_SIGNS = new Set([
  0x80, 0x82, 0x84, 0x85, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x99, 0xa0, 0xa1, 0xa3, 0xa7, 0xa9, 0xaa, 0xab, 0xae, 0xb0, 0xb2,
  0xb3, 0xb4, 0xb5, 0xb7, 0xba, 0xbb, 0xbc, 0xbd, 0xbe, 0xbf,
]) // prettier-ignore
/** Signs that no letter follows: in other charsets these bytes are letters. */
const LATIN_LAST_SIGNS = new Set([0xa3, 0xb2, 0xb3, 0xbc, 0xbd, 0xbe, 0xaa, 0xba])

const isPlausibleLatin = (bytes: Buffer): boolean => {
  let high = 0
  let strange = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte < 128) continue
    high++
    if (RARE_LETTERS.has(byte)) strange++
    else if (byte === 0x8c || byte === 0x9c) continue
    else if (byte < 0xc0 && !LATIN_SIGNS.has(byte)) strange++
    else if (
      isLatinLetter(bytes[at + 1]) &&
      (LATIN_LAST_SIGNS.has(byte) || (byte === 0xbf && isLatinLetter(bytes[at - 1])))
    )
      strange++
  }
  return (
    strange * 10 <= high &&
    !isCzech(bytes) &&
    !dividesWord(bytes) &&
    !bytes
      .toString("latin1")
      .split(/[\r\n&]/)
      .some(isElsewhere)
  )
}

/** Danish `ø` stands beside `å` and `æ`, not beside the letters of Czech `ř`. */
const isCzech = (bytes: Buffer): boolean =>
  has(bytes, 0xf8) && !has(bytes, 0xe5, 0xe6) && has(bytes, 0xe1, 0xe8, 0xec, 0xed, 0xf9)

/**
 * Letters that no language of windows-1252 has in one line. Hungarian `ő` and `ű` are `õ` and `û` there, but `õ` stands
 * before an `e` in Portuguese; Latvian `ē` is a `ç`, which French has before `a`, `o` and `u` only.
 */
const isElsewhere = (line: string): boolean =>
  (/õ(?!e)/i.test(line) && /[áéíóú]/i.test(line)) ||
  (/û/i.test(line) && /[áíóú]/i.test(line)) ||
  (/ç[b-df-hj-np-tv-zei]/i.test(line) && /[âîû]/i.test(line))

/** Whether any of these bytes occurs. */
const has = (bytes: Buffer, ...any: ReadonlyArray<number>): boolean => any.some((byte) => bytes.includes(byte))

/**
 * Whether a sign stands inside a Latin word. Apostrophes, dashes, `…`, `·` and spaces do; `•`, `”`, `§` or `€` are letters of a
 * charset of DOS or the Macintosh.
 */
const dividesWord = (bytes: Buffer): boolean =>
  bytes.some((byte, at) => DIVIDING_SIGNS.has(byte) && isAsciiLetter(bytes[at - 1]) && isAsciiLetter(bytes[at + 1]))

const DIVIDING_SIGNS = new Set([0x80, 0x82, 0x84, 0x88, 0x93, 0x94, 0x95, 0xa4, 0xa7, 0xa9, 0xae, 0xb0])

const isAsciiLetter = (byte: number | undefined): boolean =>
  byte !== undefined && ((byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122))

const isLatinLetter = (byte: number | undefined): boolean => isAsciiLetter(byte) || (byte !== undefined && byte >= 0xc0)
