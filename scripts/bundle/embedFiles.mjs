/**
 * What our modules find by their own location, for a bundle that has no such files: the programs of other threads and
 * processes become texts inside it, and so do the migrations. Whoever bundles the bundle again has them, too. Refuses any
 * other module of ours that asks for its location.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join, relative, sep } from "node:path"
import { rolldown } from "rolldown"
import { packages } from "./places.mjs"

/** A program of ours in one short text, for `node -e` and for a thread. */
const programText = async (path) => {
  const bundle = await rolldown({ input: join(packages, path), platform: "node" })
  const { output } = await bundle.generate({ format: "cjs", comments: false, minify: true })
  await bundle.close()
  return { text: `/* data-cabinet: ${path.split("/").at(-1)} */${output[0].code}`, moduleIds: output[0].moduleIds }
}

const migrations = () => {
  const folder = join(packages, "store-pg", "src", "migrations")
  const names = readdirSync(folder).filter((file) => /^\d{4}_.+\.sql$/.test(file))
  return names.sort().map((name) => ({ name, text: readFileSync(join(folder, name), "utf8") }))
}

/** Where a bundle in CommonJS is; one in modules asks for itself. */
const location = (format) =>
  format === "cjs"
    ? `import { isAbsolute } from "node:path"
       import { pathToFileURL } from "node:url"
       export const ownLocation =
         typeof __filename === "string" && isAbsolute(__filename) ? pathToFileURL(__filename).href : undefined`
    : "export const ownLocation = import.meta.url"

/**
 * The plugin, and the modules of the programs inside it, whose licences go with the bundle.
 * @param format of the bundle: "cjs" or "esm"
 */
export const embedFiles = async (format) => {
  const endUnused = await programText("store-pg/dist/embedded/EndUnused.js")
  const sheetWorker = await programText("http-node/dist/file/SheetWorker.js")
  const replaced = new Map([
    [
      "store-pg/dist/embedded/EndUnusedProgram.js",
      `export const endUnusedProgram = ["-e", ${JSON.stringify(endUnused.text)}]`,
    ],
    [
      "http-node/dist/file/StartSheetWorker.js",
      `import { Worker } from "node:worker_threads"
       const text = ${JSON.stringify(sheetWorker.text)}
       export const startSheetWorker = (options) => new Worker(text, { ...options, eval: true })`,
    ],
    [
      "store-pg/dist/migrations/MigrationFiles.js",
      `const files = ${JSON.stringify(migrations())}
       export const migrationFiles = async () => files`,
    ],
    ["store-pg/dist/embedded/OwnLocation.js", location(format)],
  ])
  const plugin = {
    name: "embed files",
    load: (id) => replaced.get(relative(packages, id).split(sep).join("/")) ?? null,
    transform: (code, id) => {
      const path = relative(packages, id).split(sep).join("/")
      if (path.startsWith("..") || replaced.has(path) || !code.includes("import.meta.")) return null
      if (path !== "cli/dist/commands/BenchCommand.js") throw new Error(`${path} asks for its location: see embedFiles`)
      // Found from the command in a clone; elsewhere it says that the measurements are in a clone only.
      const stood = `require("node:url").pathToFileURL(require("node:path").join(__dirname, "commands", "BenchCommand.js"))`
      return code.replaceAll("import.meta.url", stood)
    },
  }
  return { plugin, moduleIds: [...endUnused.moduleIds, ...sheetWorker.moduleIds] }
}
