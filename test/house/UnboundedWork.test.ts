/**
 * Two ways in which a few bytes of input end a process or hold it up for long: a list spread into the arguments of a call,
 * which lie on the stack, and a pattern that looks for every way to part a text. All source is looked through for both.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { createContext, runInContext } from "node:vm"
import { parseAst } from "rolldown/parseAst"
import { assert, it } from "vitest"
import { EXACT_FORMAT } from "@data-cabinet/core/row/ExactFormat"

const root = fileURLToPath(new URL("../../", import.meta.url))
const PACKAGES = readdirSync(join(root, "packages"))

interface Node {
  readonly type: string
  readonly start: number
  readonly [key: string]: unknown
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"

const sources = PACKAGES.flatMap((name) => {
  const folder = join(root, "packages", name, "src")
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => ({ path: relative(root, join(folder, path)), text: readFileSync(join(folder, path), "utf8") }))
})

/** Calls `see` with each node and what it stands in, the outermost first. */
const walk = (node: Node, see: (node: Node, within: ReadonlyArray<Node>) => void, within: ReadonlyArray<Node> = []) => {
  see(node, within)
  const inner = [...within, node]
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) walk(child, see, inner)
  }
}

const parsed = (text: string) => parseAst(text, { lang: "ts" }) as unknown as Node

const lineOf = (text: string, at: number) => text.slice(0, at).split("\n").length

/** The arguments that a function was called with go on as they came: there were no more of them than a call can have. */
const isOwnRest = (name: unknown, within: ReadonlyArray<Node>) =>
  within.some(({ params }) =>
    (Array.isArray(params) ? (params as ReadonlyArray<Node>) : []).some(
      (parameter) => parameter.type === "RestElement" && (parameter["argument"] as Node)["name"] === name,
    ),
  )

const spreadCalls = (path: string, text: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  walk(parsed(text), (node, within) => {
    if (node.type !== "CallExpression" && node.type !== "NewExpression") return
    const callee = node["callee"] as Node
    const isApply = callee.type === "MemberExpression" && (callee["property"] as Node)["name"] === "apply"
    const spreads = (node["arguments"] as ReadonlyArray<Node>).filter(({ type }) => type === "SpreadElement")
    const isBounded = spreads.every((spread) => {
      const argument = spread["argument"] as Node
      return argument.type === "ArrayExpression" || isOwnRest(argument["name"], within)
    })
    if (isApply || !isBounded)
      found.push(`${path}:${lineOf(text, node.start)} ${text.slice(node.start, node.start + 60)}`)
  })
  return found
}

/** Lists whose length no input decides: what they are is said beside them. */
const BOUNDED: ReadonlyArray<readonly [path: string, call: string, why: string]> = [
  ["packages/cli/src/commands/Root.ts", "settingFlags(...PLACE)", "names of settings"],
  ["packages/cli/src/commands/ServeCommand.ts", "settingFlags(...OWN)", "names of settings"],
  ["packages/cli/src/library/TablesApi.ts", "(...namesOf(object))", "two names"],
  [
    "packages/store-pg/src/embedded/Restore.ts",
    "joinPath(target, ...clusterPath(",
    "the parts of one path of an archive",
  ],
  ["packages/store-pg/src/row/DependentViews.ts", "statements.push(...(view.", "what belongs to one view"],
  ["packages/store-pg/src/row/PgRowReader.ts", "pool.unsafe(...statementOf(", "a statement and its values"],
]

it("no call takes a list of unknown length for its arguments", () => {
  const found = sources.flatMap(({ path, text }) => spreadCalls(path, text))
  assert.deepStrictEqual(
    found.filter((one) => !BOUNDED.some(([path, call]) => one.startsWith(`${path}:`) && one.includes(call))),
    [],
  )
})

it.each([
  ["list.push(...items)", 1],
  ["const most = (rows: ReadonlyArray<number>) => Math.max(0, ...rows)", 1],
  ["String.fromCharCode.apply(null, codes)", 1],
  ["new Date(...parts)", 1],
  ["const through = (...call: [number]) => next(...call)", 0],
  ["const copy = [...items]; list.push(item)", 0],
])("the check of calls sees %s", (text, count) => {
  assert.strictEqual(spreadCalls("planted.ts", text).length, count)
})

/** Characters of a text that is tried: the square of it takes seconds, and more than the square for ever. */
const LENGTH = 80_000
const PATIENCE_MILLIS = 1_000

/** Texts that make a pattern of this source begin as often as can be, go on as long as can be, and fail in the end. */
const attacks = (source: string): ReadonlyArray<string> => {
  const plain = source.replace(/\\[dwsSDWbB]|\\[pu]\{[^}]*\}|\\[nrt]|\(\?[:=!<]*|[\\^$]/g, " ")
  const letters = new Set(["0", "a", "_", " ", "\n", "\u00e9", ...plain])
  const words = plain.match(/[a-z]+[^()[\]|?*+{}.]?|[<&%@:]+/gi) ?? []
  const begins = new Set(["", ...words, plain.match(/^[^()[\]|?*+{}.]+/)?.[0] ?? ""])
  for (const word of words) for (const before of [`<${word}`, `${word}=`, `${word}=a`]) begins.add(before)
  const pumps = [...letters, ...begins].filter((pump) => pump !== "")
  return pumps.flatMap((pump) =>
    [...begins].map((begin) => `${begin}${pump.repeat(Math.ceil(LENGTH / pump.length))}\u0001`),
  )
}

/** The first text that the pattern needs longer for than a pattern may; a hang is ended. */
const slowOn = (source: string, flags: string): string | undefined => {
  const texts = attacks(source)
  const context = createContext({ texts, pattern: [source, flags.replace("y", "g")], at: 0 })
  try {
    runInContext(
      `const regex = new RegExp(...pattern)
       for (; at < texts.length; at++) { regex.lastIndex = 0; regex.test(texts[at]) }`,
      context,
      // All of them together: each takes well below a millisecond where time grows as the text does.
      { timeout: PATIENCE_MILLIS + texts.length * 5 },
    )
    return undefined
  } catch {
    const text = texts[context["at"] as number] ?? ""
    return JSON.stringify(text.slice(0, 20))
  }
}

/** Patterns that see only what an operator or this program wrote, or a text whose length is bounded just before. */
const KNOWN_SHORT: ReadonlyArray<readonly [path: string, pattern: string, why: string]> = [
  ["packages/core/src/file/CsvShape.ts", "NUMBER_OR_DATE", "of 64 characters at most"],
  ["packages/cli/src/settings/SettingForm.ts", "\\/+$", "a setting"],
  [
    "packages/cli/src/commands/RunCommand.ts",
    "\\.?\\s*\\n\\s*Did you mean this\\?\\s+(.*)$",
    "words of the parser of commands",
  ],
  ["packages/core/src/row/ReadableName.ts", "(?<=[^_])_+$", "of the first 200 characters of a name"],
]

const regexes = sources.flatMap(({ path, text }) => {
  const found: Array<{
    readonly where: string
    readonly path: string
    readonly source: string
    readonly flags: string
  }> = []
  walk(parsed(text), (node, within) => {
    if (node.type !== "Literal" || !isNode({ type: "", start: 0, ...(node["regex"] as object) })) return
    const regex = node["regex"] as { readonly pattern: string; readonly flags: string } | undefined
    if (regex === undefined) return
    const declared = within.findLast(({ type }) => type === "VariableDeclarator")
    const name = declared === undefined ? "" : ((declared["id"] as Node)["name"] as string)
    const isShort = KNOWN_SHORT.some(
      ([where, pattern]) => where === path && (pattern === name || pattern === regex.pattern),
    )
    if (!isShort) {
      found.push({ where: `${path}:${lineOf(text, node.start)}`, path, source: regex.pattern, flags: regex.flags })
    }
  })
  return found
})

it("no pattern takes longer than its text is long", () => {
  assert.isAbove(regexes.length, 60)
  const slow = regexes.flatMap(({ where, source, flags }) => {
    const text = slowOn(source, flags)
    return text === undefined ? [] : [`${where} /${source}/${flags} on ${text}`]
  })
  for (const [kind, source] of Object.entries(EXACT_FORMAT)) {
    const text = slowOn(source, "")
    if (text !== undefined) slow.push(`SPELLING.${kind} on ${text}`)
  }
  assert.deepStrictEqual(slow, [])
})

it.each([
  ["<(?:\\w+:)?sheet\\s([^>]*)>", "g"],
  ["^\\s*for\\s*=\\s*(.*?)\\s*$", "i"],
  ["^[+-]?[\\d\\s\\u00a0]*[.,]?\\d+(?:e[+-]?\\d+)?%?$", "i"],
  ["^(a+)+$", ""],
  ["\\s+$", ""],
])("the check of patterns sees %s", (source, flags) => {
  assert.isDefined(slowOn(source, flags))
})
