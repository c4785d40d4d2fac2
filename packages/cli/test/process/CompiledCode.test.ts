import { spawnSync } from "node:child_process"
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeEach, expect, it } from "vitest"

const PROGRAM = new URL("../../bin/compiledCode.mjs", import.meta.url).href
const home = mkdtempSync(join(tmpdir(), "dc-c-"))
afterAll(() => rmSync(home, { recursive: true }))

const [temporary, entry, part] = [join(home, "tmp"), join(home, "entry.cjs"), join(home, "part.cjs")]
const kept = join(temporary, `data-cabinet-compiled-${process.getuid?.()}`)

/** As npm unpacks it: every file of every version has the same time. */
const write = (file: string, text: string) => {
  writeFileSync(file, text)
  utimesSync(file, 0, 0)
}

beforeEach(() => {
  rmSync(temporary, { recursive: true, force: true })
  mkdirSync(temporary)
  write(entry, `const { word } = require("./part.cjs")\nconsole.log(word(), require("node:path").basename(__filename))`)
  write(part, `exports.word = () => "one"`)
})

/** Runs the program until its code is kept; returns what it printed. */
const run = () => {
  const words = `import(${JSON.stringify(PROGRAM)}).then(({ runCompiled }) => {
    const kept = runCompiled(${JSON.stringify(entry)}, 1)
    console.log(kept ? "kept" : "not kept")
    setTimeout(() => {}, 300)
  })`
  const { stdout, stderr } = spawnSync(process.execPath, ["-e", words], {
    encoding: "utf8",
    env: { TMPDIR: temporary, PATH: process.env["PATH"] },
  })
  expect(stderr).toBe("")
  return stdout.trim().split("\n")
}

const files = () => readdirSync(kept).map((name) => ({ name, at: statSync(join(kept, name)).mtimeMs }))

it.skipIf(process.getuid === undefined)(
  "runCompiled keeps the code of each file for its user alone, and uses it",
  () => {
    expect(run()).toEqual(["one entry.cjs", "kept"])
    expect(statSync(kept).mode & 0o777).toBe(0o700)
    const first = files()
    expect(first.map(({ name }) => name.split("-")[0])).toEqual(["entry.cjs", "part.cjs"])
    expect(run()).toEqual(["one entry.cjs", "kept"])
    expect(files()).toEqual(first)
  },
)

it.skipIf(process.getuid === undefined)("runCompiled runs a changed file of the same size and time", () => {
  run()
  write(part, `exports.word = () => "two"`)
  expect(run()[0]).toBe("two entry.cjs")
})

it.skipIf(process.getuid === undefined)("runCompiled replaces code that is damaged", () => {
  run()
  const paths = files().map(({ name }) => join(kept, name))
  for (const path of paths) {
    const bytes = readFileSync(path)
    writeFileSync(path, bytes.fill(0, bytes.length >> 1))
  }
  expect(run()).toEqual(["one entry.cjs", "kept"])
  for (const path of paths) expect(readFileSync(path).subarray(-8)).not.toEqual(Buffer.alloc(8))
})

it.skipIf(process.getuid === undefined)("runCompiled takes nothing from a folder that others can write to", () => {
  mkdirSync(kept)
  chmodSync(kept, 0o777)
  expect(run()).toEqual(["not kept"])
  expect(files()).toEqual([])
})
