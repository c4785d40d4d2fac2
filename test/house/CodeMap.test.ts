/** ARCHITECTURE.md names every folder of the packages, and none that does not exist. */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, it } from "vitest"

const root = join(import.meta.dirname, "..", "..")
const text = readFileSync(join(root, "ARCHITECTURE.md"), "utf8")
const paths = execFileSync("git", ["ls-files", "packages"], { cwd: root, encoding: "utf8" }).split("\n")

/** Each folder of a package's sources, as `core/intake`. */
const folders = new Set(
  paths.flatMap((path) => /^packages\/([^/]+)\/src\/([^/]+)\//.exec(path)?.slice(1).join("/") ?? []),
)
const map = text.slice(text.indexOf("| folder |"), text.indexOf("\nPlanted violations"))
const named = new Set([...map.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name!))

it("every folder of the packages is in the map of ARCHITECTURE.md", () => {
  assert.isAbove(folders.size, 60)
  const missing = [...folders].filter((folder) => !named.has(folder.split("/")[1]!))
  assert.deepStrictEqual(missing, [])
})

it("the first column of the map has no folder that does not exist", () => {
  const rows = map.split("\n").filter((line) => line.startsWith("| `"))
  const first = rows.flatMap((row) => [...row.split("|")[1]!.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name!))
  const existing = new Set([...folders].map((folder) => folder.split("/")[1]!))
  assert.deepStrictEqual(
    first.filter((name) => !existing.has(name)),
    [],
  )
})

it("every file and folder that ARCHITECTURE.md names exists", () => {
  const packages = new Set(paths.map((path) => path.split("/")[1]))
  const wrong = [...text.matchAll(/`((?:[a-z-]+\/)+[A-Za-z-]*)`/g)]
    .map(([, name]) => name!.replace(/\/$/, ""))
    .filter((name) => packages.has(name.split("/")[0]) || folders.has(name.split("/").slice(0, 2).join("/")))
    .filter((name) => {
      const [first, ...rest] = name.split("/")
      const inside = `packages/${first}/src/${rest.join("/")}`
      return !paths.some((path) => path.startsWith(`${inside}.`) || path.startsWith(`${inside}/`))
    })
  assert.deepStrictEqual(wrong, [])
})
