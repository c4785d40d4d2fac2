/**
 * Every export of core, of the client and of the library has a doc comment. The header of a file documents the export that
 * the file is named after, and its `layer`; every other export has a comment of its own.
 */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { assert, it } from "vitest"

const root = join(import.meta.dirname, "..", "..")

const LIBRARY = ["openCabinet", "openCabinetLayer", "openCabinets", "client", "effect", "verifyDelivery"]

const files = execFileSync(
  "git",
  [
    "ls-files",
    "packages/core/src",
    "packages/client/src",
    "packages/cli/src/library",
    ...LIBRARY.map((name) => `packages/cli/src/${name}.ts`),
  ],
  { cwd: root, encoding: "utf8" },
)
  .split("\n")
  .filter((file) => file.endsWith(".ts") && !file.includes("/generated/"))

const EXPORT =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|function\*?|class|interface|type|enum) ([A-Za-z_$][\w$]*)/

/** The exports of a file that have no doc comment. */
const undocumented = (file: string, text: string): ReadonlyArray<string> => {
  const lines = text.split("\n")
  const name = basename(file, ".ts").toLowerCase()
  const hasHeader = text.startsWith("/**")
  return lines.flatMap((line, index) => {
    const exported = EXPORT.exec(line)?.[1]
    if (exported === undefined || lines[index - 1]?.trimEnd().endsWith("*/") === true) return []
    if (hasHeader && (exported === "layer" || exported.toLowerCase() === name)) return []
    return [`${file}: ${exported}`]
  })
}

it("an export without a comment is found, unless the file's header is about it", () => {
  assert.deepStrictEqual(undocumented("a/Feed.ts", "/** The feed. */\nimport x\n\nexport class Feed {\n"), [])
  assert.deepStrictEqual(undocumented("a/Feed.ts", "import x\n\nexport class Feed {\n"), ["a/Feed.ts: Feed"])
  const text = "/** The feed. */\nimport x\n\nexport interface Page {}\n\n/** A place. */\nexport type Place = number\n"
  assert.deepStrictEqual(undocumented("a/Feed.ts", text), ["a/Feed.ts: Page"])
})

it("every export of core, the client and the library has a doc comment", () => {
  assert.isAbove(files.length, 350)
  assert.deepStrictEqual(
    files.flatMap((file) => undocumented(file, readFileSync(join(root, file), "utf8"))),
    [],
  )
})
