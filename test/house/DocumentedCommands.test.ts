/** The commands and flags named by documents and messages exist. */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { cabinet } from "data-cabinet/commands/Cabinet"
import { assert, it } from "vitest"

const root = join(import.meta.dirname, "..", "..")

interface Tree {
  readonly name: string
  readonly subcommands: ReadonlyArray<{ readonly commands: ReadonlyArray<Tree> }>
  readonly config: { readonly arguments: ReadonlyArray<unknown> }
  readonly buildHelpDoc: (path: ReadonlyArray<string>) => {
    readonly flags: ReadonlyArray<{
      readonly name: string
      readonly aliases: ReadonlyArray<string>
      readonly type: string
    }>
  }
}

const tree = cabinet as unknown as Tree

const below = (at: Tree): ReadonlyArray<Tree> => at.subcommands.flatMap(({ commands }) => commands)

/** The flags of one command, each with whether a value follows it. */
const flagsOf = (at: Tree): ReadonlyMap<string, boolean> =>
  new Map(
    at.buildHelpDoc([]).flags.flatMap(({ name, aliases, type }) => {
      const takesValue = type !== "boolean"
      return [`--${name}`, ...aliases, ...(takesValue ? [] : [`--no-${name}`])].map(
        (flag) => [flag, takesValue] as const,
      )
    }),
  )

/** Flags that every command has without declaring them. */
const GLOBAL = new Map([
  ["--help", false],
  ["--version", false],
  ["--completions", true],
])

/** Flags of all commands together. */
const everyFlag = new Set<string>(GLOBAL.keys())
const collect = (at: Tree): void => {
  for (const flag of flagsOf(at).keys()) everyFlag.add(flag)
  for (const one of below(at)) collect(one)
}
collect(tree)

/** Flags of other programs that the documents name by themselves: etcd's, PostgreSQL's. */
const FOREIGN = new Set(["--enable-v2", "--dbname", "--scope"])

/** The words of a line up to the end of its first command, without quotes. */
const wordsOf = (line: string): ReadonlyArray<string> => {
  const words: Array<string> = []
  for (const [, double, single, end, word] of line.matchAll(/"([^"]*)"|'([^']*)'|(#.*|[|;&)<>])|([^\s"'|;&)<>]+)/g)) {
    if (end !== undefined) break
    words.push(double ?? single ?? word!)
  }
  return words
}

/** Describes the fault of a call, if any; `line` is what follows the command's name. */
const faultOf = (line: string): string | undefined => {
  let at = tree
  const flags = new Map([...GLOBAL, ...flagsOf(tree)])
  const words = wordsOf(line)
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!
    if (word === "…" || word === "--") return undefined
    if (word.startsWith("-") && word !== "-") {
      const takesValue = flags.get(word.replace(/=.*/, ""))
      if (takesValue === undefined) return `${word} is not one of its flags`
      if (takesValue && !word.includes("=")) index++
      continue
    }
    const next = below(at).find(({ name }) => name === word)
    if (next !== undefined) {
      at = next
      for (const [flag, takesValue] of flagsOf(next)) flags.set(flag, takesValue)
    } else if (at.config.arguments.length === 0) return `it has no command ${word}`
  }
  return undefined
}

/** The calls of the command in a piece of code: what follows its name, up to the end of the line. */
const callsIn = (code: string): ReadonlyArray<string> =>
  code
    .replaceAll(/\\\n\s*/g, " ")
    .split("\n")
    .flatMap((line) =>
      [...line.matchAll(/(?:^\s*|[|;&(] *|npx |exec )(?:data-)?cabinet +([^\n]*)/g)].map(([, call]) => call!),
    )

const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => file !== "")

const documents = tracked.filter(
  (file) =>
    /^(?:[A-Z]+|docs\/[^/]+|docs\/guides\/[^/]+|examples\/README|packages\/[^/]+\/README)\.md$/.test(file) &&
    file !== "CHANGELOG.md",
)

const FENCE = /^ *```([a-z]*)\n([^]*?)^ *```$/gm

it("documents name only commands and flags that exist", () => {
  assert.isAbove(documents.length, 30)
  let calls = 0
  const wrong = documents.flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8")
    const blocks = [...text.matchAll(FENCE)].filter(([, language]) => language !== "ts" && language !== "js")
    const spans = [...text.replaceAll(FENCE, "").matchAll(/`([^`]+)`/g)].map(([, code]) => code!.replaceAll("\n", " "))
    const found = [...blocks.map(([, , code]) => code!), ...spans].flatMap(callsIn)
    calls += found.length
    const shortened = spans.filter((code) => {
      const noun = below(tree).find(({ name }) => name === /^[a-z]+(?= [a-z])/.exec(code)?.[0])
      return noun !== undefined && below(noun).length > 0
    })
    const ofFlags = spans
      .filter((code) => /^--[a-z]/.test(code))
      .map((code) => code.replace(/[ =,].*/, ""))
      .filter((flag) => !everyFlag.has(flag) && !FOREIGN.has(flag))
    return [...found, ...shortened]
      .flatMap((call) => {
        const fault = faultOf(call)
        return fault === undefined ? [] : [`cabinet ${call}: ${fault}`]
      })
      .concat(ofFlags)
      .map((fault) => `${file}: ${fault}`)
  })
  assert.isAbove(calls, 150)
  assert.deepStrictEqual(wrong, [])
})

it("messages and comments name only commands that exist", () => {
  const nouns = new Map(below(tree).map((noun) => [noun.name, noun]))
  const wrong = tracked
    .filter((file) => /^packages\/[^/]+\/src\/.*\.ts$/.test(file))
    .flatMap((file) =>
      [...readFileSync(join(root, file), "utf8").matchAll(/\bcabinet ([a-z]+) ([a-z][a-z-]+)\b/g)].flatMap(
        ([whole, noun, word]) => {
          const command = nouns.get(noun!)
          if (command === undefined || below(command).length === 0 || command.config.arguments.length > 0) return []
          return below(command).some(({ name }) => name === word) ? [] : [`${file}: ${whole}`]
        },
      ),
    )
  assert.deepStrictEqual(wrong, [])
})
