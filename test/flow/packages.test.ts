/**
 * The five packages as they would be published: each is fit for a registry, and together they make a program that knows
 * nothing of this workspace run, be type-checked and end by itself.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import ts from "typescript5"
import { beforeAll, expect, it } from "vitest"
import { compiler, finish, PACKAGES, packed, type Packed } from "../support/packed.ts"

let here: Packed

beforeAll(async () => {
  here = await packed()
}, 300_000)

const BOOK = fileURLToPath(new URL("../fixtures/files/book.xlsx", import.meta.url))

/** A program of somebody who has read the README. */
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
  receipt, form: form.status, book: [book.state, book.format], verified: alone === verifyDelivery && !verifyDelivery("", "t=1,v1=00", "s"),
  payloads: seen.map((event) => event.payload), totals: rows.map((row) => row["total"]),
  before, during, after: listeners(), held: process.getActiveResourcesInfo().filter((name) => !/^(TTY|Pipe)Wrap$/.test(name)),
}))
`

it.each(PACKAGES)("the tarball of %s has no fault that publint knows of", async (name) => {
  const tarball = readFileSync(here.tarball(name))
  const { messages, pkg } = await publint({ pack: { tarball: tarball.buffer as ArrayBuffer }, strict: true })
  expect(messages.map((message) => formatMessage(message, pkg!, { color: false }))).toEqual([])
})

it.each(PACKAGES)(
  "the manifest of %s leads consumers to what was built, and needs nothing of this workspace",
  (name) => {
    const installed = name === "cli" ? "data-cabinet" : `@data-cabinet/${name}`
    const text = readFileSync(join(here.app, "node_modules", installed, "package.json"), "utf8")
    expect(text).not.toMatch(/workspace:|"source"|\.\/src\//)
    expect(JSON.parse(text)).toMatchObject({ license: "MIT", author: "Data Cabinet contributors" })
  },
)

it.each(PACKAGES)("the tarball of %s holds no module whose source is gone", (name) => {
  const installed = join(here.app, "node_modules", name === "cli" ? "data-cabinet" : `@data-cabinet/${name}`)
  const modules = readdirSync(join(installed, "dist"), { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".js"),
  )
  expect(modules.length).toBeGreaterThan(10)
  expect(modules.filter((file) => !existsSync(join(installed, "src", file.replace(/\.js$/, ".ts"))))).toEqual([])
})

it("a program of a consumer runs on an embedded database, leaves no listener, and ends by itself", async () => {
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
}, 240_000)

it("the command of the installed package answers", async () => {
  const printed = await finish("npx", ["--no-install", "cabinet", "--version"], here.app)
  const { version } = JSON.parse(readFileSync(join(here.app, "node_modules/data-cabinet/package.json"), "utf8"))
  expect(printed).toContain(version)
})

it("the command of the installed package, one file, finds its migrations, its PostgreSQL and its reader of sheets", async () => {
  const dataDir = join(here.app, "command")
  const cabinet = (...words: ReadonlyArray<string>) =>
    finish("npx", ["--no-install", "cabinet", ...words, "--data-dir", dataDir, "--json"], here.app)
  try {
    expect(JSON.parse(await cabinet("source", "add", "Orders"))).toMatchObject({ id: 1, name: "Orders" })
    expect(JSON.parse(await cabinet("import", "1", BOOK))).toMatchObject({ state: "done", format: "xlsx" })
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}, 120_000)

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

/** Every member that is misused here must be known well enough for a compiler to object. */
const MISUSE = `
import { openCabinet } from "data-cabinet"
import { openCabinetLayer } from "data-cabinet/openCabinetLayer"
import { Intake } from "@data-cabinet/core/intake/Intake"
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

it.each([5, 7] as const)(
  "TypeScript %i resolves the types and checks the examples",
  async (version) => {
    const config = join(here.app, `tsconfig.${version}.json`)
    const files = ["program.ts", "misuse.ts"]
    writeFileSync(join(here.app, "program.ts"), PROGRAM)
    writeFileSync(join(here.app, "misuse.ts"), MISUSE)
    // A careful consumer has declarations checked too; they are the same for both, and the newer one takes a tenth of the time.
    const compilerOptions = { ...STRICT, skipLibCheck: version === 5 }
    // An app of Next has its own rules of resolution: `next build` checks it.
    const exclude = ["examples/next"]
    writeFileSync(config, JSON.stringify({ compilerOptions, files, include: ["examples/**/*.ts"], exclude }))
    expect(await finish(process.execPath, [compiler(version), "-p", config], here.app)).toBe("")
  },
  240_000,
)

it("what an editor shows of the library is in words, and never in Effect's types", () => {
  const entry = join(here.app, "node_modules/data-cabinet/dist/openCabinet.d.ts")
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
    // What a program calls or says has a sentence for each member; the names of what it gets back speak.
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
}, 240_000)
