/**
 * Two ways in which a few bytes of input can end or block a process: a list spread into the arguments of a call, which are
 * on the stack, and a pattern that backtracks. All sources are checked for both.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { createContext, runInContext } from "node:vm"
import { parseAst } from "rolldown/parseAst"
import { assert, it } from "vitest"
import { EXACT_FORMAT } from "@data-cabinet/core/text/ExactFormat"

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

/** Calls `see` with each node and its ancestors, outermost first. */
const walk = (node: Node, see: (node: Node, within: ReadonlyArray<Node>) => void, within: ReadonlyArray<Node> = []) => {
  see(node, within)
  const inner = [...within, node]
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) walk(child, see, inner)
  }
}

const parsed = (text: string) => parseAst(text, { lang: "ts" }) as unknown as Node

const lineOf = (text: string, at: number) => text.slice(0, at).split("\n").length

/** Passing on a function's own arguments is safe: there are no more of them than a call can have. */
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

/** Lists whose length does not depend on input, each with its reason. */
const BOUNDED: ReadonlyArray<readonly [path: string, call: string, why: string]> = [
  ["packages/cli/src/commands/Root.ts", "settingFlags(...PLACE)", "names of settings"],
  ["packages/cli/src/commands/ServeCommand.ts", "settingFlags(...OWN)", "names of settings"],
  ["packages/cli/src/library/TablesApi.ts", "(...namesOf(object))", "two names"],
  ["packages/console/src/words/IsolatedWords.ts", "words(...values", "the arguments of one sentence"],
  [
    "packages/store-pg/src/embedded/Restore.ts",
    "joinPath(target, ...clusterPath(",
    "the parts of one path of an archive",
  ],
  ["packages/store-pg/src/row/DependentViews.ts", "statements.push(...(view.", "what belongs to one view"],
  ["packages/store-pg/src/row/PgRowReader.ts", "pool.unsafe(...statementOf(", "a statement and its values"],
]

it("no call spreads a list of unknown length into its arguments", () => {
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

/** A text for which a pattern starts often, continues for long, and finally fails. */
interface Attack {
  readonly begin: string
  readonly pump: string
}

const textOf = ({ begin, pump }: Attack, length: number) =>
  `${begin}${pump.repeat(Math.ceil(length / pump.length))}\u0001`

const attacks = (source: string): ReadonlyArray<Attack> => {
  const plain = source.replace(/\\[dwsSDWbB]|\\[pu]\{[^}]*\}|\\[nrt]|\(\?[:=!<]*|[\\^$]/g, " ")
  const letters = new Set(["0", "a", "_", " ", "\n", "\u00e9", ...plain])
  const words = plain.match(/[a-z]+[^()[\]|?*+{}.]?|[<&%@:]+/gi) ?? []
  const begins = new Set(["", ...words, plain.match(/^[^()[\]|?*+{}.]+/)?.[0] ?? ""])
  for (const word of words) for (const before of [`<${word}`, `${word}=`, `${word}=a`]) begins.add(before)
  const pumps = [...letters, ...begins].filter((pump) => pump !== "")
  return pumps.flatMap((pump) => [...begins].map((begin) => ({ begin, pump })))
}

/** At this length quadratic time takes tens of milliseconds, and linear time a fraction of one. */
const LENGTH = 20_000

/** CPU milliseconds after which a text is examined more closely. */
const SUSPECT_MILLIS = 5

/** Between these lengths the growth of a suspect is measured. */
const SHORTEST = 2_500
const LONGEST = 160_000

/** CPU milliseconds that a text must take for its growth to be measured reliably. */
const MEASURED_MILLIS = 5

/** CPU milliseconds that only a text without an end exceeds. */
const FOR_EVER_MILLIS = 300

/**
 * Milliseconds of wall time after which the CPU time is checked. They decide nothing: if the CPU time was too short to
 * decide, the next check comes after twice as long.
 */
const LOOK_AFTER = 500

const cpuMillis = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** Tries texts one after the other, and stops at the first that takes longer, or that was under way at the look. */
const tryTexts = (
  source: string,
  flags: string,
  texts: { readonly length: number; readonly at: (index: number) => string },
  from: number,
  longer: number,
  lookAfter = LOOK_AFTER,
) => {
  const context = createContext({
    texts,
    pattern: [source, flags.replace("y", "g")],
    at: from,
    began: cpuMillis(),
    cpuMillis,
    longer,
  })
  try {
    runInContext(
      `const regex = new RegExp(...pattern)
       for (; at < texts.length; at++) {
         regex.lastIndex = 0
         began = cpuMillis()
         regex.test(texts.at(at))
         if (cpuMillis() - began > longer) break
       }`,
      context,
      { timeout: lookAfter },
    )
  } catch {
    // Its time on the wall is over, with the text that it was at.
  }
  return { at: context["at"] as number, millis: cpuMillis() - (context["began"] as number) }
}

/** The CPU time of one text: the minimum of five attempts. A text that takes more than `enough` is not repeated. */
const least = (source: string, flags: string, text: string, enough = FOR_EVER_MILLIS) => {
  const tries: Array<number> = []
  for (let lookAfter = LOOK_AFTER; tries.length < 5;) {
    const { at, millis } = tryTexts(
      source,
      flags,
      { length: 1, at: () => text },
      0,
      Number.POSITIVE_INFINITY,
      lookAfter,
    )
    if (at === 1) tries.push(millis)
    else if (millis > enough) return millis
    // The CPU was busy with other work until the check.
    else lookAfter *= 2
  }
  return Math.min(...tries)
}

/**
 * Whether eight times the text takes much more than eight times as long, for a text that is long enough to measure.
 * Quadratic work takes 64 times as long; the gap allows for a shared processor of varying speed.
 */
const growsFaster = (source: string, flags: string, attack: Attack): boolean => {
  for (let length = SHORTEST; length <= LONGEST; length *= 2) {
    const text = textOf(attack, length)
    const before = least(source, flags, text)
    if (before > FOR_EVER_MILLIS) return true
    if (before > MEASURED_MILLIS) {
      const longer = textOf(attack, length * 8)
      // A machine that turned slower in between, or collected its garbage, does not do so three times.
      return [1, 2, 3].every(() => {
        const bound = least(source, flags, text) * 22
        return least(source, flags, longer, bound) > bound
      })
    }
  }
  return false
}

/** The first text for which a pattern takes more than linear time, however busy the machine is. */
const slowOn = (source: string, flags: string): string | undefined => {
  const all = attacks(source)
  // Made one at a time: all of them would fill the memory.
  const texts = { length: all.length, at: (index: number) => textOf(all[index]!, LENGTH) }
  for (let from = 0; from < texts.length;) {
    const { at, millis } = tryTexts(source, flags, texts, from, SUSPECT_MILLIS)
    const attack = all[at]
    if (attack === undefined) return undefined
    if (millis <= SUSPECT_MILLIS) from = at
    else if (growsFaster(source, flags, attack)) return JSON.stringify(texts.at(at).slice(0, 20))
    else from = at + 1
  }
  return undefined
}

/** Patterns that only see texts of an operator or this program, or texts whose length has just been checked. */
const KNOWN_SHORT: ReadonlyArray<readonly [path: string, pattern: string, why: string]> = [
  ["packages/core/src/file/CsvSample.ts", "NUMBER_OR_DATE", "of 64 characters at most"],
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

it("no pattern takes more than linear time", () => {
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

it("the check of patterns reports no linear one, however long it takes", () => {
  const steps = "(?=(?:[^\u0001]|\u0001)*)".repeat(40)
  assert.isFalse(growsFaster(`^${steps}b`, "", { begin: "", pump: "a" }))
})
