/**
 * Splits a script into its statements, as psql does: a semicolon inside a literal, a quoted name, a dollar quote, a
 * comment, parentheses or the body of `CREATE FUNCTION … BEGIN ATOMIC … END` ends nothing. The driver takes one statement
 * per query.
 */

const WORD = /[A-Za-z_\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*/y
const DOLLAR_TAG = /\$(?:[A-Za-z_\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*)?\$/y

const endOfQuoted = (text: string, from: number, quote: string, backslashes: boolean): number => {
  for (let at = from; at < text.length; at++) {
    const char = text[at]
    if (backslashes && char === "\\") at++
    else if (char === quote) {
      if (text[at + 1] === quote) at++
      else return at + 1
    }
  }
  return text.length
}

const endOfBlockComment = (text: string, from: number): number => {
  let depth = 1
  let at = from
  while (at < text.length && depth > 0) {
    if (text.startsWith("*/", at)) {
      depth--
      at += 2
    } else if (text.startsWith("/*", at)) {
      depth++
      at += 2
    } else at++
  }
  return at
}

/**
 * Returns the statements of a script, trimmed and without their semicolons; comments alone do not count as a statement.
 */
export const splitStatements = (script: string): ReadonlyArray<string> => {
  const statements: Array<string> = []
  let begin = 0
  let parens = 0
  let bodyDepth = 0
  let words: Array<string> = []
  let hasContent = false
  const cut = (end: number) => {
    if (hasContent) statements.push(script.slice(begin, end).trim())
    parens = 0
    bodyDepth = 0
    words = []
    hasContent = false
  }
  let at = 0
  while (at < script.length) {
    const char = script[at]!
    if (char === "-" && script[at + 1] === "-") {
      const end = script.indexOf("\n", at)
      at = end === -1 ? script.length : end
      continue
    }
    if (char === "/" && script[at + 1] === "*") {
      at = endOfBlockComment(script, at + 2)
      continue
    }
    if (/\s/.test(char)) {
      at++
      continue
    }
    if (char === ";" && parens === 0 && bodyDepth === 0) {
      cut(at)
      at++
      begin = at
      continue
    }
    hasContent = true
    if (char === "'") at = endOfQuoted(script, at + 1, "'", false)
    else if ((char === "E" || char === "e") && script[at + 1] === "'") at = endOfQuoted(script, at + 2, "'", true)
    else if (char === '"') at = endOfQuoted(script, at + 1, '"', false)
    else if (char === "$") {
      DOLLAR_TAG.lastIndex = at
      const tag = DOLLAR_TAG.exec(script)?.[0]
      if (tag === undefined) at++
      else {
        const end = script.indexOf(tag, at + tag.length)
        at = end === -1 ? script.length : end + tag.length
      }
    } else {
      WORD.lastIndex = at
      const word = WORD.exec(script)?.[0]
      if (word === undefined) {
        if (char === "(") parens++
        if (char === ")") parens = Math.max(0, parens - 1)
        at++
      } else {
        const lower = word.toLowerCase()
        if (words.length < 4) words.push(lower)
        const makesRoutine = words[0] === "create" && words.some((w) => w === "function" || w === "procedure")
        if (makesRoutine && parens === 0) {
          if (lower === "begin") bodyDepth++
          else if (lower === "case" && bodyDepth > 0) bodyDepth++
          else if (lower === "end" && bodyDepth > 0) bodyDepth--
        }
        at += word.length
      }
    }
  }
  cut(script.length)
  return statements
}
