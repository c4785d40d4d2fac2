/**
 * The boundaries between packages are lint rules, and a lint rule that matches nothing passes as well. So each boundary is
 * violated on purpose: a file that breaks it is planted in a copy of the layout, and the linter must report it.
 */
import { spawnSync } from "node:child_process"
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, beforeEach, expect, it } from "vitest"

const root = fileURLToPath(new URL("../../", import.meta.url))
let copy: string
beforeEach(() => {
  copy = mkdtempSync(join(tmpdir(), "dc-walls-"))
  copyFileSync(join(root, ".oxlintrc.json"), join(copy, ".oxlintrc.json"))
})
afterEach(() => rmSync(copy, { recursive: true, force: true }))

const plant = (files: Readonly<Record<string, string>>): string => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(copy, name)), { recursive: true })
    writeFileSync(join(copy, name), text)
  }
  const oxlint = join(root, "node_modules", "oxlint", "bin", "oxlint")
  const result = spawnSync(process.execPath, [oxlint, "-f", "unix"], { cwd: copy, encoding: "utf8" })
  return result.stdout + result.stderr
}

const importing = (specifier: string) => `import * as it from "${specifier}"\nexport const uses = it\n`

it.each([
  ["core", "effect/sql"],
  ["core", "effect/http"],
  ["core", "node:fs"],
  ["core", "undici"],
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
])("the linter refuses that %s imports %s", (packageName, specifier) => {
  const said = plant({ [`packages/${packageName}/src/event/Planted.ts`]: importing(specifier) })
  expect(said).toMatch(/Planted\.ts:1:1: .*restricted.*no-restricted-imports/u)
})

it.each([
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
])("the linter allows %s to import %s", (packageName, specifier) => {
  expect(plant({ [`packages/${packageName}/src/row/Planted.ts`]: importing(specifier) })).not.toMatch(/restricted/u)
})

it.each(["@data-cabinet/core/row/Catalog", "../html/Shell.ts", "node:fs", "effect"])(
  "the linter refuses that the console's browser code imports %s",
  (specifier) => {
    const said = plant({ "packages/console/src/browser/Planted.ts": importing(specifier) })
    expect(said).toMatch(/no-restricted-imports/u)
  },
)

it.each([
  ["store-pg", "SourceError", "source/SourceError"],
  ["store-pg", "pollError", "poll/PollError"],
  ["delivery", "AddressError", "delivery/AddressError"],
])("the linter refuses that %s constructs %s, whose words are core's", (packageName, name, from) => {
  const source = `import { ${name} } from "@data-cabinet/core/${from}"\nexport const uses = ${name}\n`
  const said = plant({ [`packages/${packageName}/src/event/Planted.ts`]: source })
  expect(said).toMatch(/Planted\.ts:1:\d+: .*restricted.*no-restricted-imports/u)
  // Its type says what a port fails with, and facts are the adapter's to return. (A whole module, `* as`, is refused too.)
  const harmless = `import type { ${name} } from "@data-cabinet/core/${from}"
import { NotRetyped } from "@data-cabinet/core/row/SourceColumnStore"
export const uses: [${name}?] = [NotRetyped as never]
`
  expect(plant({ [`packages/${packageName}/src/event/Planted.ts`]: harmless })).not.toMatch(/restricted/u)
})

it.each([
  "Date.now()",
  "Math.random()",
  'fetch("x")',
  "process.pid",
  "setTimeout(() => {}, 1)",
  "new DataView(new ArrayBuffer(8)).getInt32(0)",
  "Buffer.alloc(8).readInt32BE(0)",
  "Buffer.alloc(8).readBigInt64BE()",
])("the linter refuses %s in core", (expression) => {
  const said = plant({ "packages/core/src/event/Planted.ts": `export const uses = ${expression}\n` })
  expect(said).toMatch(/Planted\.ts:1:\d+: .*no-restricted-(globals|properties)/u)
})

it.each([
  ["tour", "@data-cabinet/core/event/Event"],
  ["effect", "@data-cabinet/store-pg/event/PgEventLog"],
  ["effect", "../../packages/core/src/event/Event.ts"],
])("the linter refuses that the example %s imports %s", (example, specifier) => {
  const said = plant({ [`examples/${example}/planted.ts`]: importing(specifier) })
  expect(said).toMatch(/no-restricted-imports/u)
})

it("the linter allows an Effect program to import ports", () => {
  const said = plant({ "examples/effect/planted.ts": importing("@data-cabinet/core/intake/Intake") })
  expect(said).not.toMatch(/restricted/u)
})

it("the linter refuses a cycle of imports", () => {
  const said = plant({
    "packages/core/src/event/One.ts": 'import { two } from "./Two.ts"\nexport const one = () => two\n',
    "packages/core/src/event/Two.ts": 'import { one } from "./One.ts"\nexport const two = () => one\n',
  })
  expect(said).toMatch(/no-cycle/u)
})
