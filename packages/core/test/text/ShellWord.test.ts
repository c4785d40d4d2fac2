/** Words for a shell, checked with real shells. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { shellInput, shellWord } from "@data-cabinet/core/text/ShellWord"
import { assert, it } from "@effect/vitest"
import { Schema } from "effect"

/** The shells of this machine; `sh` exists everywhere. */
const SHELLS = ["sh", "dash", "bash", "zsh", "fish"].filter((shell) => {
  try {
    execFileSync(shell, ["-c", "exit 0"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
})

const empty = mkdtempSync(join(tmpdir(), "shell-word-"))
const said = (shell: string, line: string): string =>
  execFileSync(shell, ["-c", line], { cwd: empty, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })

const HOSTILE = [
  "",
  " ",
  "-n",
  "--",
  "it's",
  "\\",
  "\\'",
  "'; touch pwned; '",
  "\\'; touch pwned #",
  "a\n'; touch pwned; '",
  "\u001b]0;pwned\u0007\u001b[2J",
  "$(touch pwned) `touch pwned` ${HOME} $HOME !! !1 ~ * ? [a] {a,b}",
  '"; touch pwned; "',
  "%s %d %% \\n \\0101 \\c",
  "a\rb\tc\u0085d\u202ee\u2028f",
  "ключ 🐱 = значение",
  "=ls",
  "a & touch pwned | b ; c < d > e ( f )",
  "\ntouch pwned\nx",
]

it("every shell reads shellWord and shellInput as the text, and runs nothing of it", () => {
  assert.include(SHELLS, "sh")
  for (const shell of SHELLS) {
    for (const text of HOSTILE) {
      const word = shellWord(text)!
      assert.notMatch(word, /[\p{Cc}\u2028\u202e]/u)
      assert.strictEqual(said(shell, `printf %s ${word}`), text, `${shell}: ${JSON.stringify(text)}`)
      assert.strictEqual(said(shell, `${shellInput(text)} | cat`), text, `${shell}: ${JSON.stringify(text)}`)
    }
    assert.strictEqual(said(shell, `${shellInput("ends\n\n")} | cat`), "ends\n\n")
    assert.deepStrictEqual(readdirSync(empty), [], shell)
  }
})

it("shellWord quotes a word that zsh would replace by the path of a program", () => {
  assert.deepStrictEqual(["=ls", "a=b", "--fv=ls"].map(shellWord), ["'=ls'", "a=b", "--fv=ls"])
})

it("shellWord refuses texts that no shell word can hold", () => {
  for (const text of ["a\0b", "a\n", "\n"]) assert.isNull(shellWord(text))
})

const PIECES = [
  "'",
  "\\",
  "\n",
  "\r",
  "\u001b",
  "\u0007",
  "$",
  "`",
  "(",
  ")",
  "%",
  "!",
  '"',
  " ",
  "a",
  "0",
  "é",
  "\u202e",
  "🐱",
]
const texts = Schema.Array(Schema.Literals(PIECES)).check(Schema.isMaxLength(24))

it.prop(
  "shellWord means its text to sh, for any mixture of special characters",
  [Schema.Array(texts).check(Schema.isMaxLength(24))],
  ([many]) => {
    // Many in one call, because starting a shell takes longer than all of them.
    const given = many.map((pieces) => pieces.join("")).filter((text) => shellWord(text) !== null)
    const line = `printf '%s\\0' ${given.map((text) => shellWord(text)).join(" ")} ''`
    for (const shell of SHELLS) assert.deepStrictEqual(said(shell, line).split("\0").slice(0, -2), given)
  },
  { arbitrary: { runs: 15 } },
)
