/**
 * The library and the command in few files. For everyone: CommonJS with everything inside, which `require`, `import` and the
 * command share, so that one copy runs whoever loads it, and is installed once. For Effect programs: a module with `effect` outside, so that theirs is the one copy.
 *
 * Node's own modules are taken by `process.getBuiltinModule`, which no bundler follows: what is bundled again, into either
 * format, still finds them. An entry point is a small file that refuses an old Node before it can stumble over newer syntax; `verifyDelivery` refuses none.
 */
import { isBuiltin } from "node:module"
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { rolldown } from "rolldown"
import { dts } from "rolldown-plugin-dts"
import { asciiOnly } from "./asciiOnly.mjs"
import { embedFiles } from "./embedFiles.mjs"
import { compiled } from "./places.mjs"

/** What `data-cabinet` and `data-cabinet/NAME` load, by the names of their files. */
const ENTRIES = { index: "openCabinet", openCabinets: "openCabinets" }

/**
 * One small file of its own in either format, which shares nothing with the rest: receivers are other people's old services,
 * whose Node may know neither `process.getBuiltinModule` nor the syntax of the rest, and whose bundlers know `node:crypto`.
 */
const RECEIVER = "verifyDelivery"

/** What the command's own program runs. */
const COMMAND = { cabinet: "bin" }

const builtins = {
  name: "Node's own modules",
  renderChunk: (code) =>
    code.replaceAll(/\b(?:__)?require\("([^"]+)"\)/g, (all, name) =>
      isBuiltin(name) ? `process.getBuiltinModule("${name}")` : all,
    ),
}

const strictly = (level, log) => {
  if (log.code === "PLUGIN_TIMINGS") return
  if (level === "warn") throw new Error(log.message)
}

/** Runs wherever `fetch` does: without the check of Node's version, and without anything of Node. */
const CLIENT = "client"

/** Bundles the compiled modules, writes the output and returns it. */
const bundle = async (input, dir, format, external, isForOldNode = false) => {
  const { plugin, moduleIds } = await embedFiles(format)
  const made = await rolldown({
    input,
    platform: "node",
    external,
    plugins: [plugin, ...(isForOldNode ? [] : [builtins]), ...(format === "cjs" ? [asciiOnly] : [])],
    // In CommonJS what remains of it is Effect's lookup of bundler settings, of which there are none.
    transform: {
      ...(format === "cjs" ? { define: { "import.meta": "{}" } } : {}),
      ...(isForOldNode ? { target: "node18" } : {}),
    },
    onLog: strictly,
  })
  const extension = format === "cjs" ? "cjs" : "mjs"
  const { output } = await made.write({
    dir,
    format,
    comments: false,
    // Names stay, for those who read a stack trace.
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
    entryFileNames: `[name].${extension}`,
    chunkFileNames: `[name]-shared.${extension}`,
  })
  await made.close()
  for (const { fileName, imports } of output) {
    const strangers = imports.filter((name) => !isBuiltin(name) && !external.some((outside) => outside.test(name)))
    const unknown = strangers.filter((name) => !output.some((chunk) => chunk.fileName === name))
    if (unknown.length > 0) throw new Error(`${fileName} needs ${unknown.join(", ")}, which is not inside it`)
  }
  return { output, moduleIds: [...output.flatMap((chunk) => chunk.moduleIds), ...moduleIds] }
}

const types = async (input, dir, extension, external) => {
  const made = await rolldown({
    input,
    platform: "node",
    external,
    plugins: [dts({ dtsInput: true, sourcemap: false, tsconfig: false, generator: "oxc" })],
    onLog: strictly,
  })
  const { output } = await made.write({
    dir,
    format: "esm",
    entryFileNames: `[name].d.${extension}`,
    chunkFileNames: `[name]-shared.d.${extension}`,
  })
  await made.close()
  return output
}

const NODE_CHECK = `"use strict"
var version = process.versions.node.split(".").map(Number)
if (version[0] < 22 || (version[0] === 22 && version[1] < 19)) {
  throw new Error(
    "data-cabinet needs Node.js 22.19 or newer, and this is " + process.version + ". Get it from https://nodejs.org.",
  )
}
`

/** Writes the library and its types into a folder; returns the modules inside, whose licences go with it. */
export const buildLibrary = async (dir) => {
  rmSync(dir, { recursive: true, force: true })
  const from = (entries, ending) =>
    Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, join(compiled, file + ending)]))
  const lib = join(dir, "lib")
  const library = await bundle(from({ ...ENTRIES, ...COMMAND }, ".js"), lib, "cjs", [])
  const effect = await bundle({ effect: join(compiled, "effect.js") }, dir, "esm", [/^effect(\/|$)/])
  const client = await bundle({ [CLIENT]: join(compiled, `${CLIENT}.js`) }, dir, "esm", [])
  const receiver = from({ [RECEIVER]: RECEIVER }, ".js")
  for (const format of ["cjs", "esm"]) await bundle(receiver, dir, format, [], true)
  await types({ [CLIENT]: join(compiled, `${CLIENT}.d.ts`) }, dir, "mts", [])
  await types(from({ ...ENTRIES, [RECEIVER]: RECEIVER }, ".d.ts"), lib, "cts", [])
  await types({ effect: join(compiled, "effect.d.ts") }, dir, "mts", [/^effect(\/|$)/])

  writeFileSync(join(dir, "node.cjs"), NODE_CHECK)
  writeFileSync(join(dir, "cabinet.cjs"), `require("./lib/cabinet.cjs")\n`)
  for (const name of Object.keys(ENTRIES)) {
    const { exports } = library.output.find((chunk) => chunk.fileName === `${name}.cjs`)
    writeFileSync(join(dir, `${name}.cjs`), `require("./node.cjs")\nmodule.exports = require("./lib/${name}.cjs")\n`)
    const names = exports.filter((each) => each !== "default").join(", ")
    writeFileSync(
      join(dir, `${name}.mjs`),
      `import library from "./${name}.cjs"\nconst { ${names} } = library\nexport { ${names} }\n`,
    )
  }
  for (const name of [...Object.keys(ENTRIES), RECEIVER])
    for (const extension of ["cts", "mts"])
      writeFileSync(join(dir, `${name}.d.${extension}`), `export * from "./lib/${name}.cjs"\n`)
  return [...library.moduleIds, ...effect.moduleIds, ...client.moduleIds]
}
