/** No two folders of a package import each other: a reader of one would have to know the other. */
import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const PACKAGES = fileURLToPath(new URL("../../packages/", import.meta.url))

const PACKAGE_NAMES = globSync("*/src", { cwd: PACKAGES }).map((path) => path.slice(0, path.indexOf("/")))

/** The pairs of a package, each as `one ⇄ other`. */
const pairsOf = (name: string): ReadonlyArray<string> => {
  const src = `${PACKAGES}${name}/src/`
  const imports = new Set<string>()
  for (const file of globSync("*/*.ts", { cwd: src })) {
    const folder = file.slice(0, file.indexOf("/"))
    for (const [, other] of readFileSync(src + file, "utf8").matchAll(/ from "\.\.\/([^/"]+)\/[^"]+"/g)) {
      if (other !== folder) imports.add(`${folder} ${other}`)
    }
  }
  return [...imports].flatMap((pair) => {
    const [one, other] = pair.split(" ") as [string, string]
    return one < other && imports.has(`${other} ${one}`) ? [`${one} ⇄ ${other}`] : []
  })
}

it("finds the packages", () => {
  expect(PACKAGE_NAMES).toContain("core")
})

it.each(PACKAGE_NAMES)("no two folders of package %s import each other", (name) => {
  expect(pairsOf(name)).toEqual([])
})
