/**
 * The Next.js example, built and served by Next with the packed package. A trial, because Next is large.
 */
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, expect, it } from "vitest"
import { testDatabase } from "../support/postgres.ts"
import { finish, freePorts, packed, start, stopAll } from "../support/packed.ts"

const EXAMPLE = fileURLToPath(new URL("../../examples/next", import.meta.url))

const PREPARE = `
  import { openCabinet } from "data-cabinet"
  const cabinet = await openCabinet({ databaseUrl: process.env.DATABASE_URL, baseUrl: process.env.BASE_URL })
  const { intakeUrl } = await cabinet.sources.create({ name: "Next" })
  const { key } = await cabinet.keys.create({ name: "next" })
  console.log(JSON.stringify({ intakeUrl, key }))
  await cabinet.close()`

afterAll(stopAll)

it("the Next.js app builds as shipped, accepts data, and serves it", async () => {
  const here = await packed()
  const app = join(dirname(here.app), "next")
  const database = await testDatabase({ empty: true })
  const [port] = await freePorts(1)
  const env = { DATABASE_URL: database.url, BASE_URL: `http://127.0.0.1:${port}/data`, NEXT_TELEMETRY_DISABLED: "1" }
  try {
    cpSync(EXAMPLE, app, { recursive: true })
    const manifest = JSON.parse(readFileSync(join(app, "package.json"), "utf8")) as {
      dependencies: Record<string, string>
    }
    // The package is not published yet, so the tarball stands in for it.
    delete manifest.dependencies["data-cabinet"]
    writeFileSync(join(app, "package.json"), JSON.stringify(manifest))
    await finish("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", here.tarball], app)
    await finish("npm", ["run", "build"], app, env)

    const prepared = await finish(process.execPath, ["--input-type=module", "-e", PREPARE], app, env)
    const { intakeUrl, key } = JSON.parse(prepared) as { intakeUrl: string; key: string }
    const next = join(app, "node_modules/next/dist/bin/next")
    const served = await start(next, /Ready in/, app, env, ["start", "--port", String(port)])
    const posted = await fetch(intakeUrl, { method: "POST", body: new URLSearchParams({ a: "1" }) })
    expect([posted.status, await posted.json()]).toEqual([200, { ok: true, id: 1, duplicate: false, empty: false }])
    const rows = `${env.BASE_URL}/api/v1/tables/sources/next/rows?col=a`
    const read = await fetch(rows, { headers: { authorization: `Bearer ${key}` } })
    expect([read.status, await read.json()]).toMatchObject([200, { data: [{ a: "1" }] }])
    await served.stop()
  } finally {
    rmSync(app, { recursive: true, force: true })
    await database.drop()
  }
}, 600_000)
