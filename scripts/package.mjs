/**
 * `node scripts/package.mjs [FOLDER]`: makes the package as it is published, `dist/data-cabinet`, from what
 * scripts/build.mjs has built, and packs it into the folder, if one is given. Everything that runs is bundled; outside stay
 * PostgreSQL's binaries, one optional package for each platform, and `effect` for programs that have it.
 *
 * REPOSITORY_URL, which a release sets, becomes the addresses of the manifest: a clone does not know where it is published.
 *
 * Decision: docs/decisions/0045-one-published-package.md
 */
import { spawnSync } from "node:child_process"
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { buildLibrary } from "./bundle/library.mjs"
import { noticesOf } from "./bundle/licenses.mjs"
import { compiled, packages, published, root } from "./bundle/places.mjs"

const read = (path) => JSON.parse(readFileSync(path, "utf8"))

const both = (name) => ({
  import: { types: `./dist/${name}.d.mts`, default: `./dist/${name}.mjs` },
  require: { types: `./dist/${name}.d.cts`, default: `./dist/${name}.cjs` },
})

const manifest = () => {
  const { name, version, description, keywords, license, author, engines } = read(join(packages, "cli", "package.json"))
  const { effect } = read(join(packages, "cli", "package.json")).dependencies
  const url = process.env.REPOSITORY_URL
  const addresses =
    url === undefined || url === ""
      ? {}
      : { repository: { type: "git", url: `git+${url}.git` }, homepage: `${url}#readme`, bugs: `${url}/issues` }
  return {
    name,
    version,
    description,
    keywords,
    license,
    author,
    ...addresses,
    type: "commonjs",
    engines,
    bin: { "data-cabinet": "bin/cabinet.mjs", cabinet: "bin/cabinet.mjs" },
    main: "./dist/index.cjs",
    types: "./dist/index.d.cts",
    exports: {
      ".": both("index"),
      "./openCabinets": both("openCabinets"),
      "./verifyDelivery": both("verifyDelivery"),
      "./client": { types: "./dist/client.d.mts", default: "./dist/client.mjs" },
      "./effect": { types: "./dist/effect.d.mts", default: "./dist/effect.mjs" },
      "./package.json": "./package.json",
    },
    publishConfig: { access: "public" },
    peerDependencies: { effect: `^${effect}` },
    peerDependenciesMeta: { effect: { optional: true } },
    optionalDependencies: read(join(packages, "store-pg", "package.json")).optionalDependencies,
  }
}

if (!existsSync(join(compiled, "cabinet.cjs"))) {
  process.stderr.write("Nothing is built yet: run node scripts/build.mjs first.\n")
  process.exit(1)
}
const dist = join(published, "dist")
const moduleIds = await buildLibrary(dist)
mkdirSync(join(published, "bin"), { recursive: true })
// The command holds what the library does, so its notices are enough.
const notices = readFileSync(join(compiled, "LICENSES.txt"), "utf8")
for (const notice of noticesOf(moduleIds))
  if (!notices.includes(notice)) throw new Error(`The command's licences lack this one:\n${notice}`)
writeFileSync(join(published, "LICENSES.txt"), notices)
cpSync(join(packages, "cli", "bin"), join(published, "bin"), { recursive: true })
copyFileSync(join(packages, "cli", "README.md"), join(published, "README.md"))
for (const file of ["LICENSE", "CHANGELOG.md"])
  if (existsSync(join(root, file))) copyFileSync(join(root, file), join(published, file))
writeFileSync(join(published, "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`)

const [destination] = process.argv.slice(2)
if (destination !== undefined) {
  mkdirSync(destination, { recursive: true })
  const packed = spawnSync("npm", ["pack", published, "--pack-destination", resolve(destination)], {
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
  })
  process.exit(packed.status ?? 1)
}
