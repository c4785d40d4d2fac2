/** `npm install` and `yarn`, which a newcomer types in a fresh clone, stop at once and say what to do. */
import { execFile } from "node:child_process"
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const ROOT = fileURLToPath(new URL("../../", import.meta.url))
const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Record<string, Record<string, string>>
const SENTENCE = /pnpm installs this workspace.*run npm start or npm test.*npx pnpm@\d+\.\d+\.\d+ install/i

type Run = { readonly code: number; readonly said: string }

const run = (command: string, args: ReadonlyArray<string>, cwd: string, more: Readonly<NodeJS.ProcessEnv> = {}) =>
  new Promise<Run>((resolve) => {
    const env = { ...process.env, npm_config_user_agent: undefined, ...more }
    execFile(command, args, { cwd, env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), said: `${stdout}${stderr}` }),
    )
  })

it("npm install in a clone writes nothing and says how to install", async () => {
  // Without dependencies, because npm would first resolve them in the registry, and fail on a protocol that it lacks.
  expect(JSON.stringify(manifest["devDependencies"])).not.toMatch(/workspace:|link:/)
  const clone = mkdtempSync(join(tmpdir(), "dc-clone-"))
  try {
    copyFileSync(join(ROOT, ".npmrc"), join(clone, ".npmrc"))
    writeFileSync(join(clone, "package.json"), JSON.stringify({ ...manifest, devDependencies: {} }))
    const { code, said } = await run("npm", ["install", "--offline"], clone)
    expect(said).toMatch(SENTENCE)
    expect([code, existsSync(join(clone, "package-lock.json")), existsSync(join(clone, "node_modules"))]).toEqual([
      1,
      false,
      false,
    ])
  } finally {
    rmSync(clone, { recursive: true })
  }
})

it.each([
  ["yarn/1.22.22 npm/? node/v24.21.0 linux x64", 1],
  ["pnpm/12.21.0 npm/? node/v24.21.0 linux x64", 0],
] as const)("the script before an installation knows %s", async (agent, code) => {
  const script = manifest["scripts"]!["preinstall"]!.split(" ")[1]!
  const outcome = await run(process.execPath, [join(ROOT, script)], ROOT, { npm_config_user_agent: agent })
  expect(outcome.code).toBe(code)
  if (code !== 0) expect(outcome.said).toMatch(SENTENCE)
})

it("Yarn of any version runs a script in its place, which says how to install", async () => {
  const [, script] = /^yarnPath: (\S+)$/m.exec(readFileSync(join(ROOT, ".yarnrc.yml"), "utf8"))!
  // What Yarn sets for the program that it runs.
  const { code, said } = await run(process.execPath, [join(ROOT, script!)], ROOT, { YARN_IGNORE_PATH: "1" })
  expect(code).toBe(1)
  expect(said).toMatch(SENTENCE)
})
