/**
 * `node scripts/version.mjs`: turns the changesets into the next version of the package and its entry in CHANGELOG.md, and gives
 * the other packages, and the constant that is printed, the same version. A release's workflow runs it.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { packages, root } from "./bundle/places.mjs"

// pnpm beside it: changesets calls it to write the lockfile again.
const words = ["--yes", "--package=pnpm@12.21.0", "--package=@changesets/cli@3.0.3", "changeset", "version"]
const { status } = spawnSync("npx", words, { cwd: root, stdio: "inherit", shell: process.platform === "win32" })
if (status !== 0) process.exit(status ?? 1)

const { version } = JSON.parse(readFileSync(join(packages, "cli", "package.json"), "utf8"))
const manifests = [
  join(root, "package.json"),
  ...readdirSync(packages).map((name) => join(packages, name, "package.json")),
]
const replace = (path, pattern, text) => writeFileSync(path, readFileSync(path, "utf8").replace(pattern, text))
for (const path of manifests) replace(path, /"version": "[^"]*"/, `"version": "${version}"`)
// A starter is copied out of the clone, so it names the version that it is for.
const starters = readdirSync(join(root, "examples")).map((name) => join(root, "examples", name, "package.json"))
for (const path of starters.filter((one) => existsSync(one)))
  replace(path, /"data-cabinet": "\d[^"]*"/, `"data-cabinet": "${version}"`)
// What else names the version that it is for.
for (const path of [
  "README.md",
  "examples/README.md",
  "integrations/helm/Chart.yaml",
  "deploy/kubernetes/data-cabinet.yaml",
])
  replace(join(root, path), /(data-cabinet-|appVersion: |image: data-cabinet:)\d+\.\d+\.\d+/g, `$1${version}`)
replace(join(packages, "core", "src", "diagnostics", "Version.ts"), /VERSION = "[^"]*"/, `VERSION = "${version}"`)
