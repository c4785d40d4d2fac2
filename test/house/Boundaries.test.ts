/**
 * The boundaries between packages are lint rules, and a lint rule that matches nothing passes as well. So each boundary is
 * violated on purpose: files that break them are planted in a copy of the layout, and one run of the linter must report each.
 */
import { spawnSync } from "node:child_process"
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { beforeAll, expect, it } from "vitest"

/** A file of the copy, and the linter's expected message about it. */
interface Planted {
  readonly rule: string
  readonly file: string
  readonly text: string
  readonly reported?: RegExp
}

const importing = (specifier: string) => `import * as it from "${specifier}"\nexport const uses = it\n`

const REFUSED_IMPORTS = [
  ["core", "effect/sql"],
  ["core", "effect/http"],
  ["core", "node:fs"],
  ["core", "undici"],
  ["core", "@nats-io/transport-node"],
  ["core", "@data-cabinet/store-pg/event/PgEventLog"],
  ["store-pg", "@data-cabinet/http-node/routes/Server"],
  ["store-pg", "@data-cabinet/delivery/delivery/HttpCourier"],
  ["store-pg", "effect/http"],
  ["store-pg", "data-cabinet"],
  ["http-node", "@data-cabinet/store-pg/event/PgEventLog"],
  ["http-node", "@data-cabinet/delivery/delivery/HttpCourier"],
  ["http-node", "@effect/sql-pg"],
  ["http-node", "effect/sql"],
  ["http-node", "@effect/platform-node/NodeHttpServer"],
  ["http-node", "@data-cabinet/console/Console"],
  ["console", "@data-cabinet/store-pg/event/PgEventLog"],
  ["console", "@data-cabinet/delivery/delivery/HttpCourier"],
  ["console", "effect/sql"],
  ["console", "data-cabinet"],
  ["delivery", "@data-cabinet/store-pg/event/PgEventLog"],
  ["delivery", "@data-cabinet/http-node/routes/Server"],
  ["delivery", "effect/http"],
  ["remote", "@data-cabinet/http-node/routes/Server"],
  ["remote", "@data-cabinet/store-pg/event/PgEventLog"],
  ["remote", "node:fs"],
  ["remote", "effect/http"],
  ["client", "@data-cabinet/core/delivery/Signature"],
  ["client", "effect"],
  ["client", "node:crypto"],
  ["cli", "../../../test/support/postgres.ts"],
] as const

const ALLOWED_IMPORTS = [
  ["core", "effect"],
  ["core", "node:crypto"],
  ["core", "../event/Other.ts"],
  ["store-pg", "node:fs/promises"],
  ["delivery", "undici"],
  ["console", "@data-cabinet/http-node/html/Html"],
  ["console", "@data-cabinet/core/row/Catalog"],
  ["cli", "@data-cabinet/console/Console"],
  ["cli", "@data-cabinet/store-pg/event/PgEventLog"],
  ["cli", "@data-cabinet/remote/RemoteCabinet"],
  ["remote", "@data-cabinet/core/source/Sources"],
  ["client", "./Other.ts"],
] as const

/** Whose words are core's. */
const ERRORS = [
  ["store-pg", "SourceError", "source/SourceError"],
  ["store-pg", "pollError", "poll/PollError"],
  ["delivery", "AddressError", "delivery/AddressError"],
] as const

const EXPRESSIONS = [
  "Date.now()",
  "Math.random()",
  'fetch("x")',
  "process.pid",
  "setTimeout(() => {}, 1)",
  "new DataView(new ArrayBuffer(8)).getInt32(0)",
  "Buffer.alloc(8).readInt32BE(0)",
  "Buffer.alloc(8).readBigInt64BE()",
]

const EXAMPLES = [
  ["tour", "@data-cabinet/core/event/Event"],
  ["effect", "@data-cabinet/store-pg/event/PgEventLog"],
  ["effect", "../../packages/core/src/event/Event.ts"],
] as const

const IMPORT = /:1:\d+: .*no-restricted-imports/u

/** What is logged past the configured log. */
const UNLOGGED = [
  ...["runFork", "runPromise", "runPromiseExit", "runSync", "runSyncExit", "runCallback"].map(
    (run) => ["core,console,delivery,http-node,remote,store-pg", `Effect.${run}(Effect.void)`] as const,
  ),
  ["core,client,console,delivery,http-node,remote,store-pg", 'console.warn("careful")'],
] as const

const planted: ReadonlyArray<Planted> = [
  ...UNLOGGED.flatMap(([packages, expression], at) =>
    packages.split(",").map((of) => ({
      rule: `refuses ${expression} in ${of}, which is logged past the configured log`,
      file: `packages/${of}/src/event/Unlogged${at}.ts`,
      text: `import { Effect } from "effect"\nexport const uses = () => [Effect, ${expression}]\n`,
      reported: /:2:\d+: .*(no-restricted-properties|no-console)/u,
    })),
  ),
  ...REFUSED_IMPORTS.map(([of, specifier], at) => ({
    rule: `refuses that ${of} imports ${specifier}`,
    file: `packages/${of}/src/event/Refused${at}.ts`,
    text: importing(specifier),
    reported: IMPORT,
  })),
  ...ALLOWED_IMPORTS.map(([of, specifier], at) => ({
    rule: `allows ${of} to import ${specifier}`,
    file: `packages/${of}/src/row/Allowed${at}.ts`,
    text: importing(specifier),
  })),
  ...["@data-cabinet/core/row/Catalog", "../html/Shell.ts", "node:fs", "effect"].map((specifier, at) => ({
    rule: `refuses that the console's browser code imports ${specifier}`,
    file: `packages/console/src/browser/Refused${at}.ts`,
    text: importing(specifier),
    reported: IMPORT,
  })),
  ...ERRORS.flatMap(([of, name, from], at) => [
    {
      rule: `refuses that ${of} constructs ${name}`,
      file: `packages/${of}/src/event/Constructs${at}.ts`,
      text: `import { ${name} } from "@data-cabinet/core/${from}"\nexport const uses = ${name}\n`,
      reported: IMPORT,
    },
    {
      // A port fails with the type, and facts are the adapter's to return. (A whole module, `* as`, is refused as well.)
      rule: `allows ${of} the type of ${name}`,
      file: `packages/${of}/src/event/Types${at}.ts`,
      text: `import type { ${name} } from "@data-cabinet/core/${from}"
import { NotRetyped } from "@data-cabinet/core/row/SourceColumnStore"
export const uses: [${name}?] = [NotRetyped as never]
`,
    },
  ]),
  ...EXPRESSIONS.map((expression, at) => ({
    rule: `refuses ${expression} in core`,
    file: `packages/core/src/event/Uses${at}.ts`,
    text: `export const uses = ${expression}\n`,
    reported: /:1:\d+: .*no-restricted-(globals|properties)/u,
  })),
  ...EXAMPLES.map(([of, specifier], at) => ({
    rule: `refuses that the example ${of} imports ${specifier}`,
    file: `examples/${of}/refused${at}.ts`,
    text: importing(specifier),
    reported: IMPORT,
  })),
  {
    rule: "allows an Effect program to import ports",
    file: "examples/effect/allowed.ts",
    text: importing("@data-cabinet/core/intake/Intake"),
  },
  {
    rule: "refuses a cycle of imports",
    file: "packages/core/src/event/One.ts",
    text: 'import { two } from "./Two.ts"\nexport const one = () => two\n',
    reported: /no-cycle/u,
  },
]

const root = fileURLToPath(new URL("../../", import.meta.url))
let lines: ReadonlyArray<string>
beforeAll(() => {
  const copy = mkdtempSync(join(tmpdir(), "dc-walls-"))
  copyFileSync(join(root, ".oxlintrc.json"), join(copy, ".oxlintrc.json"))
  const other = {
    file: "packages/core/src/event/Two.ts",
    text: 'import { one } from "./One.ts"\nexport const two = () => one\n',
  }
  for (const { file, text } of [...planted, other]) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    writeFileSync(join(copy, file), text)
  }
  const oxlint = join(root, "node_modules", "oxlint", "bin", "oxlint")
  const { stdout } = spawnSync(process.execPath, [oxlint, "-f", "unix"], { cwd: copy, encoding: "utf8" })
  lines = stdout.split("\n")
  rmSync(copy, { recursive: true, force: true })
})

it.each(planted)("the linter $rule", ({ file, reported }) => {
  const said = lines.filter((line) => line.includes(`${file}:`)).join("\n")
  if (reported === undefined) expect(said).not.toMatch(/restricted/u)
  else expect(said).toMatch(reported)
})
