/**
 * The programs of "Mounting" in docs/embedding.md and of the README, each run as written in its framework with the packed
 * package. In the trials Bun and Deno run theirs on the embedded PostgreSQL, if npm has them for this platform; otherwise that
 * is printed.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { mkdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { EVERY_CONSUMER } from "../support/everyConsumer.ts"
import { compiler, finish, freePorts, packed, RUNTIMES, type Running, start, stopAll } from "../support/packed.ts"
import { withDatabase } from "../support/postgres.ts"

const INSTALL = ["install", "--no-audit", "--no-fund", "--prefer-offline"]

/** Frameworks to install. Express and Fastify are already in the consumer's program, in the examples' versions. */
const FRAMEWORKS = [
  "@hono/node-server@2.1.9",
  "@nestjs/common@12.5.1",
  "@nestjs/core@12.5.1",
  "@nestjs/platform-express@12.5.1",
  "@types/koa@3.0.3",
  "hono@4.13.19",
  "koa@3.3.0",
  "reflect-metadata@0.2.2",
  "rxjs@7.8.2",
]

const { app } = await packed()
/** A folder below the program, so that the package and Node's types resolve. */
const folder = join(app, "mounting")

const page = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")

const mounting = /^## Mounting\n([\s\S]*?)^## /m.exec(page("docs/embedding.md"))![1]!

/** The page's programs, by the names in their first lines. */
const programs = new Map(
  [...mounting.matchAll(/^```(?:ts|js)\n(\/\/ ([\w.:]+?)(?::? .*)?\n[\s\S]*?)^```/gm)].map(([, code, name]) => [
    name!,
    code!,
  ]),
)

const broughtBy = async ([name, { npm }]: readonly [string, { readonly npm: string }]): Promise<string | null> => {
  const home = join(app, `runtime-${name}`)
  await mkdir(home, { recursive: true })
  writeFileSync(join(home, "package.json"), "{}")
  const command = join(home, "node_modules", ".bin", name.toLowerCase())
  try {
    await finish("npm", [...INSTALL, npm], home)
    await finish(command, ["--version"], home)
    return command
  } catch {
    process.stdout.write(`== not run: the program of ${name} in docs/embedding.md (npm does not bring it here)\n`)
    return null
  }
}

const runtimes = new Map<string, string>()
for (const entry of EVERY_CONSUMER ? Object.entries(RUNTIMES) : []) {
  const command = await broughtBy(entry)
  if (command !== null) runtimes.set(entry[0], command)
}

const database = withDatabase({ empty: true })

/** The cabinet that the page assumes before each program. */
const BEFORE = `
import { openCabinet } from "data-cabinet"

declare const Bun: { serve: (options: { port: number; fetch: (request: Request) => Promise<Response> }) => unknown }
declare const Deno: { serve: (options: { port: number }, handler: (request: Request) => Promise<Response>) => unknown }
const port = Number(process.env["PORT"])
const databaseUrl = process.env["DATABASE_URL"]
const baseUrl = \`http://127.0.0.1:\${port}/data\`
const cabinet = await openCabinet({ databaseUrl, dataDir: process.env["DATA"], baseUrl, delivery: false })
`

const AFTER = `
const source = await cabinet.sources.create({ name: process.env["NAME"]! })
const { token } = await cabinet.tokens.create({ name: process.env["NAME"]!, role: "owner" })
console.log(\`READY \${JSON.stringify({ intakeUrl: source.intakeUrl, token, id: source.id })} END\`)
process.once("SIGTERM", () => void cabinet.close().then(() => process.exit(0)))
`

/** Declares types that the page's programs do not import. */
const MODULE = `
import "reflect-metadata"
import { Body, Controller, Module, Post } from "@nestjs/common"

class Echo {
  echo(body: unknown) {
    return body
  }
}
Post("own")(Echo.prototype, "echo", Object.getOwnPropertyDescriptor(Echo.prototype, "echo")!)
Body()(Echo.prototype, "echo", 0)
Controller()(Echo)

export class AppModule {}
Module({ controllers: [Echo] })(AppModule)
`

/** The CommonJS program opens its own cabinet, so a second one on the same database creates the source. */
const COMMON_BEFORE = `
const port = Number(process.env.PORT)
const databaseUrl = process.env.DATABASE_URL
const baseUrl = "http://127.0.0.1:" + port + "/data"
`
const COMMON_AFTER = `
openCabinet({ databaseUrl, baseUrl, delivery: false }).then(async (second) => {
  const source = await second.sources.create({ name: process.env.NAME })
  const { token } = await second.tokens.create({ name: process.env.NAME, role: "owner" })
  console.log("READY " + JSON.stringify({ intakeUrl: source.intakeUrl, token, id: source.id }) + " END")
})
`

const fileOf = (name: string) => join(folder, name === "CommonJS" ? "CommonJS.cjs" : `${name.replace(":", "-")}.ts`)

beforeAll(async () => {
  await mkdir(folder)
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }')
  writeFileSync(join(folder, "app.module.ts"), MODULE)
  await finish("npm", [...INSTALL, ...FRAMEWORKS], folder)
  for (const [name, code] of programs)
    writeFileSync(
      fileOf(name),
      name === "CommonJS" ? `${COMMON_BEFORE}${code}${COMMON_AFTER}` : `${BEFORE}${code}${AFTER}`,
    )
})
afterAll(async () => {
  stopAll()
  await rm(join(app, "mounting-data"), { recursive: true, force: true })
})

/** Digits, spaces and key order that a parser would not restore. */
const BODY = '{ "n": 12345678901234567890.10, "a": [1.0] }'

/** Checks everything that a mounted cabinet serves, knowing only its address. */
const expectMounted = async (running: Running, port: number): Promise<void> => {
  const { intakeUrl, token, id } = JSON.parse(/READY (\{.*\}) END/.exec(running.output())![1]!) as {
    intakeUrl: string
    token: string
    id: number
  }
  const send = (body: string | Uint8Array<ArrayBuffer>, type: string) =>
    fetch(intakeUrl, { method: "POST", headers: { "content-type": type }, body })
  const manage = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}/data/manage/v1${path}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    return (await response.json()) as Record<string, unknown>
  }
  await expect
    .poll(() =>
      fetch(`http://127.0.0.1:${port}/data/console/sign-in`).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200)
  const json = await send(BODY, "application/json")
  const receipt = (await json.json()) as { id: number }
  expect([json.status, receipt]).toEqual([200, expect.objectContaining({ ok: true, duplicate: false })])
  const shown = JSON.stringify(await manage(`/events/${receipt.id}`))
  expect(shown).toContain(JSON.stringify(BODY).slice(1, -1))
  expect((await send("customer=Ada", "application/x-www-form-urlencoded")).status).toBe(200)
  expect((await send(new Uint8Array(2_000_000), "application/octet-stream")).status).toBe(413)
  expect(await manage(`/sources/${id}`)).toMatchObject({ id })
  const nowhere = await fetch(`http://127.0.0.1:${port}/data/nowhere`)
  expect([nowhere.status, await nowhere.json()]).toEqual([404, expect.objectContaining({})])
}

it("the page has a program for each framework that it names", () => {
  const names = ["node:http", "Express", "Fastify", "Koa", "NestJS", "Hono", "Bun", "Deno", "CommonJS"]
  expect([...programs.keys()]).toEqual(names)
})

it.each([...programs.keys()].filter((name) => !(name in RUNTIMES)))(
  "the page's program for %s serves a cabinet that keeps bodies as sent",
  async (name) => {
    const port = (await freePorts(1))[0]!
    const env = { DATABASE_URL: database.url, PORT: String(port), NAME: name, NO_COLOR: "1" }
    const running = await start(fileOf(name), /READY .* END/, folder, env)
    await expectMounted(running, port)
    expect(running.output()).not.toMatch(/error/i)
    await running.stop()
  },
  240_000,
)

for (const [name, command] of runtimes) {
  it(`the page's program for ${name} serves a cabinet on the embedded PostgreSQL`, async () => {
    const port = (await freePorts(1))[0]!
    const data = join(app, "mounting-data", name)
    const words = RUNTIMES[name as keyof typeof RUNTIMES].words
    const env = { DATA: data, PORT: String(port), NAME: name, NO_COLOR: "1" }
    const running = await start(fileOf(name), /READY .* END/, folder, env, [], [command, ...words])
    await expectMounted(running, port)
    expect(await running.stop()).toBe(0)
  })
}

it("strict TypeScript accepts the programs of both pages", async () => {
  const config = join(folder, "tsconfig.json")
  const compilerOptions = {
    target: "ES2024",
    module: "NodeNext",
    types: ["node"],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noImplicitReturns: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
  }
  const files = [...programs.keys()].filter((name) => name !== "CommonJS").map(fileOf)
  writeFileSync(config, JSON.stringify({ compilerOptions, files: [...files, readmeProgram()] }))
  expect(await finish(process.execPath, [compiler(7), "-p", config], folder)).toBe("")
})

/** The README's program, preceded by its assumptions, with a sender in its middle. */
const readmeProgram = (): string => {
  const [, code] = /^## In your own program\n+```ts\n([\s\S]*?)^```/m.exec(page("README.md"))!
  const [mounted, rest] = code!.split("\nconst source = ")
  const before = `
import { openCabinet as open } from "data-cabinet"
import express from "express"
const databaseUrl = process.env["DATABASE_URL"]!
const storedCursor = undefined
const app = express()
const first = await open({ databaseUrl, delivery: false })
const { id } = await first.sources.create({ name: "Big" })
await first.intake(id, { fields: { total: "70" } })
await first.sql("CREATE VIEW public.big_orders AS SELECT _event_id, total::numeric AS total FROM sources.big")
const { intakeUrl } = await first.sources.reveal(id)
const path = "/data/webhook/" + intakeUrl.split("/").at(-1)
await first.close()
`
  const between = `
const server = app.use(express.json()).listen(0, "127.0.0.1")
await new Promise((resolve) => server.once("listening", resolve))
const { port } = server.address() as { port: number }
const sent = { method: "POST", headers: { "content-type": "application/json" }, body: '{"total": 1.50}' }
const { status } = await fetch(\`http://127.0.0.1:\${port}\${path}\`, sent)
const viaFetch = await POST(new Request(\`https://example.com\${path}\`, { ...sent, body: '{"total": 2}' }))
console.log(status, viaFetch.status)
server.close()
`
  const file = join(folder, "readme.ts")
  writeFileSync(file, `${before}${mounted}${between}\nconst source = ${rest}\nconsole.log(rows.length)\n`)
  return file
}

it("the README's program mounts, receives, and reads as documented", async () => {
  const printed = await finish(process.execPath, [readmeProgram()], folder, { DATABASE_URL: database.url })
  expect(printed).toMatch(/^200 200$/m)
  expect(printed).toContain("{ total: '12.50' }")
  expect(printed).toMatch(/\n1\n$/)
})
