/**
 * Builds everything that is run and published: every package by the compiler, then the command `cabinet` again as one file,
 * `packages/cli/dist/cabinet.cjs`, with all its imports. Most of the startup time is the loading of modules, and one file
 * instead of a thousand takes less than half of that. It is CommonJS, since an `import` of node:http reads all its exports
 * and with them loads a second HTTP client. The library `openCabinet` stays in modules, for its host to share or shake.
 *
 * Files that a module finds by its own location (migrations, the worker of sheets, PostgreSQL's binaries) are found from
 * the bundle too: `import.meta.url` is replaced by the location of the module in which it was written.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative, sep } from "node:path"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const packages = join(root, "packages")
const dist = join(packages, "cli", "dist")

/** The import name of a compiled module of ours; undefined for any other module. */
const publicName = (id) => {
  const [folder, built, ...path] = relative(packages, id).split(sep)
  if (folder === ".." || built !== "dist") return undefined
  const name = folder === "cli" ? "data-cabinet" : `@data-cabinet/${folder}`
  return `${name}/${path.join("/").replace(/\.js$/, "")}`
}

const whereItStood = {
  name: "where it stood",
  transform: (code, id) => {
    const name = publicName(id)
    if (name === undefined || !code.includes("import.meta.url")) return null
    const place = `require("node:url").pathToFileURL(require.resolve(${JSON.stringify(name)})).href`
    return code.replaceAll("import.meta.url", place)
  },
}

/** The licences of the bundled packages, which require to be distributed with them. */
const notices = (ids) => {
  const roots = new Set(ids.flatMap((id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id) ?? []))
  const texts = [...roots].flatMap((at) => {
    const { name, version, license } = JSON.parse(readFileSync(join(at, "package.json"), "utf8"))
    const file = readdirSync(at).find((entry) => /^licen[cs]e/i.test(entry))
    const text = file === undefined ? `${license}\n` : readFileSync(join(at, file), "utf8")
    return `${name} ${version}\n\n${text}`
  })
  return texts.join(`\n${"-".repeat(80)}\n\n`)
}

const compiled = spawnSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-b", "packages/cli"], {
  cwd: root,
  stdio: "inherit",
})
if (compiled.status !== 0) process.exit(1)

/** Removes compiled output whose source is gone: it would be published with the rest. */
const tidy = (built, sources) => {
  for (const entry of readdirSync(built, { withFileTypes: true, recursive: true })) {
    const [, stem] = /^(.*?)(?:\.d\.ts|\.js)(?:\.map)?$/.exec(entry.name) ?? []
    if (!entry.isFile() || stem === undefined) continue
    const source = join(sources, relative(built, entry.parentPath), `${stem}.ts`)
    if (!existsSync(source)) rmSync(join(entry.parentPath, entry.name))
  }
}

for (const name of readdirSync(packages)) tidy(join(packages, name, "dist"), join(packages, name, "src"))

const bundle = await rolldown({
  input: join(dist, "bin.js"),
  platform: "node",
  plugins: [whereItStood],
  // What remains of it is Effect's lookup of bundler settings, of which there are none.
  transform: { define: { "import.meta": "{}" } },
  onLog: (level, log) => {
    if (level === "warn") throw new Error(log.message)
  },
})
const { output } = await bundle.write({ file: join(dist, "cabinet.cjs"), format: "cjs", comments: false })
writeFileSync(join(dist, "LICENSES.txt"), notices(output.flatMap((chunk) => chunk.moduleIds ?? [])))
await bundle.close()
