/** Folders of a package that import each other: a reader of one has to know the other. Their number only goes down. */
import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const PACKAGES = fileURLToPath(new URL("../../packages/", import.meta.url))

/** Lower a number when a pair is gone; never raise one. */
const PAIRS = { cli: 0, client: 0, console: 0, core: 1, delivery: 0, "http-node": 1, remote: 0, "store-pg": 0 }

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

it.each(Object.entries(PAIRS))("package %s has at most %i pairs of folders that import each other", (name, most) => {
  const pairs = pairsOf(name)
  expect(pairs, pairs.join(", ")).toHaveLength(most)
})
