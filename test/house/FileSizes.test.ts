/**
 * A file has one subject: none has more lines than a reader takes in at once, and few are so small that what belongs together is
 * apart.
 */
import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const MOST_LINES = 250
const FEW_LINES = 30

/** Lower it with each file that finds its place; never raise it. */
const MOST_SMALL_FILES = 150

/** Lists of words, one a language, and generated code. */
const LISTS = [/^console\/src\/words\/(English|Russian)\.ts$/, /\/generated\//]

const packages = fileURLToPath(new URL("../../packages/", import.meta.url))

const sizes = globSync("*/src/**/*.ts", { cwd: packages })
  .sort()
  .map((file) => ({ file, lines: readFileSync(packages + file, "utf8").split("\n").length - 1 }))

it(`no file of the packages has more than ${MOST_LINES} lines`, () => {
  expect(sizes.length).toBeGreaterThan(500)
  const large = sizes.filter(({ file, lines }) => lines > MOST_LINES && !LISTS.some((list) => list.test(file)))
  expect(large).toEqual([])
})

it(`at most ${MOST_SMALL_FILES} files of the packages have at most ${FEW_LINES} lines`, () => {
  const small = sizes.filter(({ lines }) => lines <= FEW_LINES).map(({ file }) => file)
  expect(small.length, `One is to join a file of its subject:\n${small.join("\n")}`).toBeLessThanOrEqual(
    MOST_SMALL_FILES,
  )
})
