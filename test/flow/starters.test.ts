/**
 * The starters in `examples/`, each installed, built and served as the README of the examples says, with the packed package: its form is
 * sent as a browser sends it and as another program does, and the page shows both rows. A trial, because frameworks are large.
 */
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, expect, it } from "vitest"
import { finish, freePorts, packed, start, stopAll } from "../support/packed.ts"
import { testDatabase } from "../support/postgres.ts"

const EXAMPLES = fileURLToPath(new URL("../../examples", import.meta.url))

interface Manifest {
  readonly scripts: { readonly build?: string; readonly start: string }
  readonly dependencies: Record<string, string>
}

const manifestOf = (folder: string) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest

/** Next.js has a trial of its own. */
const STARTERS = globSync("*/package.json", { cwd: EXAMPLES })
  .map((path) => dirname(path))
  .filter((name) => name !== "next")
  .sort()

/** These replace the framework's check of origins, which would cover intake addresses as well. */
const OWN_CHECK = ["astro", "sveltekit"]

afterAll(stopAll)

/** What a table of the page shows, row by row. */
const shown = async (site: string): Promise<ReadonlyArray<ReadonlyArray<string>>> => {
  const page = await (await fetch(site)).text()
  return [...page.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row]) =>
    [...row!.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell]) => cell!.replaceAll(/<!--.*?-->/gs, "").trim()),
  )
}

it.each(STARTERS)(
  "%s shows a form that works, and the table read back",
  async (name) => {
    const here = await packed()
    const app = join(dirname(here.app), `starter-${name}`)
    const database = await testDatabase({ empty: true })
    const [port] = await freePorts(1)
    const site = `http://127.0.0.1:${port}`
    try {
      cpSync(join(EXAMPLES, name), app, { recursive: true })
      const manifest = manifestOf(app)
      // The package is not published yet, so the tarball stands in for it.
      delete manifest.dependencies["data-cabinet"]
      writeFileSync(join(app, "package.json"), JSON.stringify(manifest))
      await finish("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", here.tarball], app)
      if (manifest.scripts.build !== undefined) await finish("npm", ["run", "build"], app)
      const env = { DATABASE_URL: database.url, SITE: site, PORT: String(port), HOST: "127.0.0.1", ORIGIN: site }
      const [script, ...args] = manifest.scripts.start.replace(/^node /, "").split(" ")
      const served = await start(join(app, script!), /127\.0\.0\.1|localhost/, app, env, args)
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
