/** What the library reports on a Node that is too old, and programs without a file of their own. */
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, it } from "vitest"

const HERE = fileURLToPath(new URL(".", import.meta.url))
const run = promisify(execFile)

/** Simulates Node 20: its version, and no SQLite. */
const OLD = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module"
  Object.defineProperty(process, "version", { value: "v20.20.2" })
  Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } })
  registerHooks({
    resolve: (name, context, next) => {
      if (name === "node:sqlite") throw new Error("No such built-in module: node:sqlite")
      return next(name, context)
    },
  })`)}`

const node = (...args: ReadonlyArray<string>) =>
  run(process.execPath, ["--conditions=source", ...args], { cwd: HERE, env: { PATH: process.env["PATH"] } })

const ENTRIES = ["data-cabinet", "data-cabinet/openCabinets", "data-cabinet/openCabinetLayer"]

it.for(ENTRIES)("%s says which version it needs when Node is too old", async (name) => {
  const script = `import(${JSON.stringify(name)}).catch((error) => console.log(error.message))`
  const { stdout } = await node("--import", OLD, "--input-type=module", "-e", script)
  expect(stdout).toBe(
    "data-cabinet requires Node.js 22.19 or newer, but this is v20.20.2. Get it from https://nodejs.org.\n",
  )
})

it.for(ENTRIES)("%s can be imported by a script of node -e", async (name) => {
  const script = `import(${JSON.stringify(name)}).then((all) => console.log(Object.keys(all).join()))`
  const { stdout, stderr } = await node("-e", script)
  expect(stdout).toMatch(/openCabinet/)
  expect(stderr).toBe("")
})
