/**
 * Recognizes texts without separated cells: logs, and pairs of a name and a value, as in YAML and settings. `isCut`: the last
 * line may be incomplete.
 */
import { isWrapped } from "./DrawnTable.ts"

const WRAPPED =
  "a table whose lines are quoted as a whole, so that each is one cell: export it again, or pass the format csv to import it as one column"

/** How many characters are examined for the shape of lines. */
const LOOK_CHARACTERS = 4_096

const LEVEL = "(?:TRACE|DEBUG|INFO|INFORMATION|NOTICE|WARN|WARNING|ERROR|ERR|FATAL|CRITICAL|CRIT|ALERT|PANIC|SEVERE)"
const DAY = "\\d{4}[-/]\\d\\d[-/]\\d\\d"
const TIME = "\\d\\d:\\d\\d:\\d\\d"

/** Lines of logs: a time and a level, syslog, requests of web servers, pairs (logfmt). */
const LOG_LINES: ReadonlyArray<RegExp> = [
  new RegExp(`^\\[?${DAY}[T ]${TIME}[^\\s;|]{0,20}\\]?:? [^;|\\t]{0,60}?\\b${LEVEL}\\b`, "i"),
  new RegExp(`^[[<]?${LEVEL}[\\]>]?:? +\\[?(?:${DAY}|${TIME})`, "i"),
  new RegExp(
    `^(?:<\\d{1,3}>)?(?:1 )?(?:[A-Z][a-z]{2} [ \\d]\\d ${TIME}|${DAY}T${TIME}\\S*) [\\w.-]+ [\\w./()-]+(?:\\[\\d+\\])?(?::| \\S+ )`,
  ),
  new RegExp(`^\\S+ \\S+ \\S+ \\[\\d\\d/[A-Z][a-z]{2}/\\d{4}:${TIME} [+-]\\d{4}\\] "`),
  /^(?:[\w.]{1,50}=(?:"[^"]*"|[^\s",;]*) ){2,}[\w.]{1,50}=/,
]

/** Every line of a table has one of these; a comma before a space is text. */
const DELIMITERS = [/;/, /\t/, /\|/, /,(?! |$)/]

const PAIR = /^(?! )([A-Za-z_][\w.-]{0,60}):(?: +\S.*)?$/
/** Lines that continue the pair above, in YAML. */
const BELOW = /^(?:\s+\S|- |-$|#|---$|\.\.\.$|[\]}],?$)/

/** Pairs of a name and a value, one a line. A name that is repeated means a column of such texts. */
const arePairs = (lines: ReadonlyArray<string>): boolean => {
  const names: Array<string> = []
  for (const line of lines) {
    const name = PAIR.exec(line)?.[1]
    if (name !== undefined) names.push(name)
    else if (names.length === 0 ? !/^(?:#|---$)/.test(line) : !BELOW.test(line)) return false
  }
  return (names.length > 1 || (names.length === 1 && lines.length > 1)) && new Set(names).size === names.length
}

/** The lines without their common indent: pairs may be cut out of a document. */
const indented = (text: string): ReadonlyArray<string> => {
  const indent = /^[ ]+/.exec(text)?.[0]
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "")
  return indent === undefined || !lines.every((line) => line.startsWith(indent))
    ? lines
    : lines.map((line) => line.slice(indent.length))
}

const wholeLines = (text: string, isCut: boolean): ReadonlyArray<string> => {
  const lines = indented(text)
  return isCut ? lines.slice(0, -1) : lines
}

const areSeparated = (lines: ReadonlyArray<string>): boolean =>
  DELIMITERS.some((one) => lines.every((line) => one.test(line)))

/** Whether the first lines are those of a log. */
export const isLog = (text: string, isCut: boolean): boolean => {
  const lines = wholeLines(text, isCut)
  const kind = LOG_LINES.find((one) => one.test(lines[0] ?? ""))
  if (kind === undefined || areSeparated(lines)) return false
  return lines.slice(0, 5).filter((line) => kind.test(line)).length > 1
}

/** Whether a text begins like a letter, and has sentences. */
const isLetter = (lines: ReadonlyArray<string>): boolean =>
  /\S[,.!?:]$/.test(lines[0]!.trimEnd()) &&
  !lines.some((line) => DELIMITERS.some((one) => one.test(line))) &&
  lines.some((line) => /\p{Ll}[.!?] \p{Lu}/u.test(line) || (/\S \S+ \S/.test(line) && /\p{Ll}[.!?]$/u.test(line)))

const unseparated = (text: string, isCut: boolean): string | undefined => {
  if (isLog(text, isCut)) return "a log of a program"
  const lines = wholeLines(text, isCut)
  if (lines.length < 2 || areSeparated(lines)) return undefined
  if (arePairs(lines)) return "a list of names with a value each, such as YAML"
  return isLetter(lines) ? "a text of sentences" : undefined
}

/** A line of prose: a header separates its names and does not end with a full stop. */
const isSentence = (line: string): boolean =>
  !/^"|[\r\n;\t|]|,(?! )/.test(line) && (/\S\s+\S+\s+\S/.test(line) || /\S\s+\S+[.!]$/.test(line))

/**
 * Names a text of one line, or one whose lines are each quoted as a whole: read as separated text, it would be a table
 * without rows, or with one column.
 */
export const foreignLines = (text: string): string | undefined => {
  const look = text.slice(0, LOOK_CHARACTERS)
  const begin = look.trim()
  if (text.length <= LOOK_CHARACTERS && isSentence(begin)) return "one line of words, not a table"
  const isCut = text.length > LOOK_CHARACTERS
  if (isBase64(begin, isCut)) return "a file encoded as text (base64), not a table"
  const what = unseparated(look.trimEnd(), isCut)
  if (what !== undefined) return `${what}, not a table`
  return isWrapped(begin, isCut) ? WRAPPED : undefined
}

/**
 * Lines of base64 as long as mails and certificates have them, of which only the last is shorter; lists of tokens or
 * checksums have lines of one length, and hexadecimal ones have no letters of both cases.
 */
const isBase64 = (begin: string, isCut: boolean): boolean => {
  const lines = begin.split(/\r?\n/)
  const last = lines.pop()!
  const [first = ""] = lines
  if (lines.length === 0 || (first.length !== 76 && first.length !== 64) || last.length > first.length) return false
  if (!lines.every((line) => line.length === first.length && /^[\w+/-]+$/.test(line))) return false
  const isEnd = isCut
    ? lines.length > 1 && first.length === 76
    : last.length < first.length && /^[\w+/-]+={0,2}$/.test(last)
  return isEnd && /[a-z]/.test(begin) && /[A-Z]/.test(begin) && /\d/.test(begin)
}
