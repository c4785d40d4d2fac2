/** Recognizes the source code of programs and style sheets, whose semicolons and commas separate no cells. */

/** How programs begin, below comments. */
const BEGINNINGS: ReadonlyArray<RegExp> = [
  /^(["'])use (?:strict|client|server)\1;?\s/,
  /^(?:export )?(?:const|let|var) [\w$]+(?:: ?[^=\r\n]{1,100})? = /,
  /^(?:const|import(?: type)?) \{[^}]{0,1000}\} (?:=|from) /,
  /^import (?:(?:[\w$]+|\* as [\w$]+)(?:, ?\{[^}]{0,1000}\})? from )?(["'])[^\r\n"']{1,200}\1;?\s/,
  /^(?:export )?(?:default )?(?:async )?function\b ?\*? ?[\w$]{0,100}\(/,
  /^[!;(]{1,2}(?:async )?function\b ?[\w$]{0,100}\(|^\(\(\) ?=> ?\{/,
  // JSON in a call (JSONP).
  /^[A-Za-z_$][\w$.]{0,100}\(\s*[{[]/,
  /^module\.exports\b|^require\(["']/,
  /^#include [<"]|^#(?:ifndef|define|pragma) \w/,
  /^<\?php\s/,
  /^package [\w.]{1,200}(?:;|\s*\r?\n\s*(?:import|func|var|const|type) )/,
  /^import (?:static )?java[\w.]{1,200};/,
  /^using [\w.]{1,200};\s/,
  /^(?:pub )?(?:use|mod) [\w:{}*, ]{1,200};|^(?:pub )?fn \w{1,100}\(/,
  /^(?:import|from) [\w., ]{1,200}\r?\n\s*(?:(?:import|from|def|class|if|try|@|[\w.]{1,100} = )\b|[\w.]{1,100}\()/,
  /^from [\w.]{1,200} import \w/,
  /^(?:async )?def \w{1,100}\([^\r\n]{0,500}\)[^\r\n]{0,100}:\s/,
  /^("""|''')[\s\S]{1,2000}?\1\s*(?:import|from|def|class) \w/,
  /^(?:require|require_relative|load) (["'])[\w/.-]{1,100}\1\r?\n/,
  /^class [A-Z]\w{0,60}(?: < [\w:]{1,60})?\r?\n\s+(?:def|include|attr_\w+|has_\w+|private) /,
  /^(?:export )?(?:interface|enum|struct|trait|impl|type) [A-Z]\w{0,60}(?: = | extends \w+| for \w+)? ?\{/,
  /^(?:int|void|static|double|char) \*?\w{1,60}\([^;\r\n]{0,200}\)\s*\{/,
  /^local \w{1,60} = .{0,500}\r?\n\s*(?:local|function|return|if|for) /,
  /^\w{1,60} <- (?:c|function|read\.\w+|data\.frame|library)\(|^library\(\w+\)/,
  /^(?:resource|variable|provider|module|terraform) (?:"[\w-]+" ?){0,2}\{\r?\n/,
  /^FROM [\w./:@-]{1,200}(?: AS \w+)?\s*\r?\n\s*(?:RUN|COPY|ADD|WORKDIR|ENV|ARG|USER|LABEL|EXPOSE|CMD) /i,
  /^(?:[A-Z_]+ ?[:?]?=.{0,200}\n)*\.?[\w.-]{1,60}:[^\n]{0,200}\n\t\S/,
  /^(?:@?echo off|set -e\w{0,5}|param\()/i,
  /^@(?:charset|import|media|font-face|use)\b[^\r\n]{0,200}[;{]/,
  /^\\documentclass\b/,
  /^diff --git a\/|^--- [^\r\n]{1,200}\r?\n\+\+\+ [^\r\n]{1,200}\r?\n@@ /,
]

const COMMENT = /^(?:\/\*[\s\S]*?\*\/|\/\/[^\n]*(?:\n|$))\s*/
/** A number sign begins the comments of some languages, and titles above tables. */
const NUMBERED = /^(?:#[^\n]*\n\s*){1,50}(?=(?:import|from|def|class|require|library|source|function|use) ?[\w.'"(])/

const afterComments = (text: string): string => {
  let rest = text
  for (let found = COMMENT.exec(rest); found !== null; found = COMMENT.exec(rest)) rest = rest.slice(found[0].length)
  return rest
}

const QUOTED_CELL = /(^|[;,\t|])"(?:[^"]|"")*"(?=[;,\t|\r\n]|$)/gm

/** Blocks in braces, of lines most of which end as statements do. Cells in quotes may hold such lines. */
const hasBlocks = (text: string): boolean => {
  const lines = text
    .replaceAll(QUOTED_CELL, "$1")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
  const opens = lines.findIndex((line) => line.endsWith("{"))
  if (opens === -1 || !lines.some((line, n) => n > opens && line.startsWith("}"))) return false
  return lines.filter((line) => /[;{}(),]$/.test(line)).length * 3 >= lines.length * 2
}

/** A rule of a style sheet on one line. */
const STYLE = /^[\w.#:*@ ,>-]{1,100}\{\s*[\w-]{1,50}:[^{};\r\n]{1,200};?[^{}\r\n]{0,500}\}\s*$/m

/** `begin`: the first characters of a text that is not JSON. */
export const isSourceCode = (begin: string): boolean => {
  const text = afterComments(begin.trimStart().replace(NUMBERED, ""))
  if (text === "" || /^[{[]/.test(text)) return false
  return BEGINNINGS.some((pattern) => pattern.test(text)) || hasBlocks(text) || STYLE.test(text.split("\n", 1)[0]!)
}
