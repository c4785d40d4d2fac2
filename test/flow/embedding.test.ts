/**
 * The tour of docs/embedding.md, executed as written: its blocks are one program, which the packed packages run, and the
 * page shows below each block what the program prints.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { beforeAll, expect, it } from "vitest"
import { compiler, finish, freePorts, packed, type Packed } from "../support/packed.ts"
import { withDatabase } from "../support/postgres.ts"

let here: Packed
const database = withDatabase({ empty: true })

beforeAll(async () => {
  here = await packed()
})

const page = readFileSync(new URL("../../docs/embedding.md", import.meta.url), "utf8")
const tour = page.slice(page.indexOf("## A tour"), page.indexOf("## Mounting"))
const blocks = (language: string) =>
  [...tour.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(([, text]) => text!)

it("the tour's program prints the page's output, and ends on its own", async () => {
  expect(blocks("ts").length).toBeGreaterThan(7)
  writeFileSync(join(here.app, "tour.ts"), blocks("ts").join("\n"))
  const [port] = await freePorts(2)
  const printed = await finish(process.execPath, ["tour.ts"], here.app, {
    DATABASE_URL: database.url,
    PORT: String(port),
  })
  expect(printed).toBe(blocks("text").join(""))
})

it("the tour's program has the types that its code suggests", async () => {
  writeFileSync(join(here.app, "tour.ts"), blocks("ts").join("\n"))
  const config = join(here.app, "tsconfig.tour.json")
  const compilerOptions = {
    target: "ES2024",
    module: "NodeNext",
    types: ["node"],
    strict: true,
    skipLibCheck: true,
    noEmit: true,
  }
  writeFileSync(config, JSON.stringify({ compilerOptions, files: ["tour.ts"] }))
  expect(await finish(process.execPath, [compiler(7), "-p", config], here.app)).toBe("")
})
