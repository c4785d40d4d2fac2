/**
 * The starters in `examples/`, each installed, built and served as the README of the examples says, with the packed package: its form is
 * sent as a browser sends it and as another program does, and the page shows both rows. A trial, because frameworks are large.
 */
import { cpSync, globSync, readFileSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, expect, it } from "vitest"
import { finish, freePorts, packed, RUNTIMES, start, stopAll } from "../support/packed.ts"
import { testDatabase } from "../support/postgres.ts"

const EXAMPLES = fileURLToPath(new URL("../../examples", import.meta.url))

interface Manifest {
  readonly scripts: { readonly build?: string; readonly start: string }
}

const manifestOf = (folder: string) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest

const STARTERS = globSync("*/package.json", { cwd: EXAMPLES })
  .map((path) => dirname(path))
  .sort()

/** Each on Node, and one of those that only need Node's interfaces on the other runtimes. */
const CASES: ReadonlyArray<readonly [name: string, runtime: "Node" | keyof typeof RUNTIMES]> = [
  ...STARTERS.map((name) => [name, "Node"] as const),
  ["hono", "Bun"],
  ["hono", "Deno"],
]

/** These replace the framework's check of origins, which would cover intake addresses as well. */
const OWN_CHECK = ["astro", "sveltekit"]

afterAll(stopAll)

const INSTALL = ["install", "--no-audit", "--no-fund", "--prefer-offline"]

/** The command that npm brings for a runtime, if it brings one for this platform. */
const broughtBy = async (runtime: keyof typeof RUNTIMES, app: string) => {
  const { npm, words } = RUNTIMES[runtime]
  const command = join(app, "node_modules/.bin", runtime.toLowerCase())
  try {
    await finish("npm", [...INSTALL, npm], app)
    await finish(command, ["--version"], app)
    return [command, ...words] as const
  } catch {
    process.stdout.write(`== not run: the starter on ${runtime} (npm does not bring it here)\n`)
    return null
  }
}

/** What a table of the page shows, row by row. */
const shown = async (site: string): Promise<ReadonlyArray<ReadonlyArray<string>>> => {
  const page = await (await fetch(site)).text()
  return [...page.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row]) =>
    [...row!.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell]) => cell!.replaceAll(/<!--.*?-->/gs, "").trim()),
  )
}

it.each(CASES)(
  "%s on %s shows a form that works, and the table read back",
  async (name, runtime) => {
    const here = await packed()
    const app = join(dirname(here.app), `starter-${name}-${runtime}`)
    const database = await testDatabase({ empty: true })
    const [port] = await freePorts(1)
    const site = `http://127.0.0.1:${port}`
    try {
      cpSync(join(EXAMPLES, name), app, { recursive: true })
      const manifest = manifestOf(app)
      // The package is not published yet, so the tarball stands in for it.
      await finish("npm", [...INSTALL, here.tarball], app)
      const command = runtime === "Node" ? ([process.execPath] as const) : await broughtBy(runtime, app)
      if (command === null) return
      if (manifest.scripts.build !== undefined) await finish("npm", ["run", "build"], app)
      const env = { DATABASE_URL: database.url, SITE: site, PORT: String(port), HOST: "127.0.0.1", ORIGIN: site }
      const [program, ...words] = manifest.scripts.start.split(" ")
      const [script, ...args] = program === "node" ? words : [`node_modules/.bin/${program}`, ...words]
      const served = await start(join(app, script!), /127\.0\.0\.1|localhost/, app, env, args, command)
      await expect.poll(async () => (await fetch(`${site}/`)).status).toBe(200)
      const [, action] = /<form[^>]* action="([^"]+)"/.exec(await (await fetch(`${site}/`)).text())!
      expect(action).toMatch(`${site}/data/webhook/`)
      expect(await shown(`${site}/`)).toEqual([])

      const body = new URLSearchParams({ name: "Ada", message: "<b>Hello</b>" })
      const headers = { accept: "text/html,*/*;q=0.8", origin: site }
      const sent = await fetch(action!, { method: "POST", body, headers, redirect: "manual" })
      expect([sent.status, sent.headers.get("location")]).toEqual([303, `${site}/`])
      // A program, and a page of another site.
      for (const [who, origin] of [
        ["Alan", {}],
        ["Grace", { origin: "https://other.example" }],
      ] as const) {
        const other = await fetch(action!, {
          method: "POST",
          headers: origin,
          body: new URLSearchParams({ name: who }),
        })
        expect([other.status, await other.json()], who).toMatchObject([200, { ok: true }])
      }
      if (OWN_CHECK.includes(name)) {
        const foreign = { method: "POST", headers: { origin: "https://other.example" }, body: new URLSearchParams() }
        expect((await fetch(`${site}/`, foreign)).status).toBe(403)
      }
      const rows = await shown(`${site}/`)
      expect(rows.map(([who]) => who)).toEqual(["Grace", "Alan", "Ada"])
      expect(rows[2]![1]).toMatch(/^(&lt;|&#60;)b(&gt;|>|&#62;)Hello/)
      expect((await fetch(`${site}/data/readyz`)).status).toBe(200)
      await served.stop()
    } finally {
      rmSync(app, { recursive: true, force: true })
      await database.drop()
    }
  },
  600_000,
)
