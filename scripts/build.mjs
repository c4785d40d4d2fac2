/**
 * Builds everything that is run in a clone: every package by the compiler, then the command `cabinet` again with all its
 * imports as `packages/cli/dist/cabinet.cjs` and, beside it, a file for each part that only some commands load. Most of the
 * startup time is the loading of modules, and few files instead of a thousand take less than half of that. It is CommonJS, since an `import` of node:http reads all its exports
 * and with them loads a second HTTP client. What is published is made of this by scripts/package.mjs.
 */
import { spawnSync } from "node:child_process"
import { readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { rolldown } from "rolldown"
import { asciiOnly } from "./bundle/asciiOnly.mjs"
import { embedFiles } from "./bundle/embedFiles.mjs"
import { licenses } from "./bundle/licenses.mjs"
import { compiled, root } from "./bundle/places.mjs"

const tsc = spawnSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-b", "packages/cli"], {
  cwd: root,
  stdio: "inherit",
})
if (tsc.status !== 0) process.exit(1)

const { plugin, moduleIds } = await embedFiles("cjs")
const bundle = await rolldown({
  input: join(compiled, "bin.js"),
  platform: "node",
  plugins: [plugin, asciiOnly],
  // What remains of it is Effect's lookup of bundler settings, of which there are none.
  transform: { define: { "import.meta": "{}" } },
  onLog: (level, log) => {
    // A slow machine is not a fault of the sources.
    if (level === "warn" && log.code !== "PLUGIN_TIMINGS") throw new Error(log.message)
  },
})
const { output } = await bundle.write({
  dir: compiled,
  entryFileNames: "cabinet.cjs",
  chunkFileNames: "cabinet-[name].cjs",
  format: "cjs",
  comments: false,
  // Names stay, for those who read a stack trace.
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
})
// Not before: a command may be starting from them meanwhile.
const written = new Set(output.map(({ fileName }) => fileName))
for (const file of readdirSync(compiled))
  if (/^cabinet-.+\.cjs$/.test(file) && !written.has(file)) rmSync(join(compiled, file))
writeFileSync(
  join(compiled, "LICENSES.txt"),
  licenses([...output.flatMap((chunk) => chunk.moduleIds ?? []), ...moduleIds]),
)
await bundle.close()
