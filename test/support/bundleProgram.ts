/**
 * `node bundleProgram.ts ENTRY FILE`: bundles a program from the sources into one file, as scripts/build.mjs does for
 * releases, but without compiling all packages first. A module still finds files beside its source.
 */
import { dirname } from "node:path"
import { pathToFileURL } from "node:url"
import { rolldown } from "rolldown"

const [, , input, file] = process.argv

const bundle = await rolldown({
  input: input!,
  platform: "node",
  resolve: { conditionNames: ["source", "node", "import", "default"] },
  plugins: [
    {
      name: "where its source is",
      transform: (code, id) =>
        id.includes("node_modules") || !code.includes("import.meta.")
          ? null
          : code
              .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
              .replaceAll("import.meta.filename", JSON.stringify(id))
              .replaceAll("import.meta.dirname", JSON.stringify(dirname(id))),
    },
  ],
  onLog: (level, log) => {
    // A slow machine is not a fault of the sources.
    if (level === "warn" && log.code !== "PLUGIN_TIMINGS") throw new Error(log.message)
  },
})
await bundle.write({ file: file!, format: "esm", codeSplitting: false, comments: false })
await bundle.close()
