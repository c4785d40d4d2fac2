/**
 * Programs that tests start as processes of their own. Loading a thousand modules costs a process a second and a half of
 * the processor, one file a third of a second, so each program is bundled once a test run, in the folder of the run's own
 * cluster, which goes with it.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { inject } from "vitest"

const BUNDLE = fileURLToPath(new URL("bundleProgram.ts", import.meta.url))

const home = () => join(dirname(inject("postgresSocketDir")), "programs")

const bundles = new Map<string, string>()

/** The file to run instead of the program at `source`. The first who asks in a test run builds it, the others wait. */
export const program = (source: URL): string => {
  const known = bundles.get(source.href)
  if (known !== undefined) return known
  const name = basename(source.pathname, ".ts")
  const folder = join(home(), name)
  const done = join(folder, "done")
  const file = join(folder, `${name}.mjs`)
  if (mkdirSync(folder, { recursive: true }) !== undefined) {
    const built = spawnSync(process.execPath, [BUNDLE, fileURLToPath(source), file], { encoding: "utf8" })
    // Renamed into place, so that nobody reads it half written.
    writeFileSync(
      `${done}.new`,
      built.status === 0 ? "" : `${fileURLToPath(source)} cannot be bundled: ${built.stderr}`,
    )
    renameSync(`${done}.new`, done)
  }
  // Blocks: whoever starts a process does not wait for anything else meanwhile.
  while (!existsSync(done)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
  const fault = readFileSync(done, "utf8")
  if (fault !== "") throw new Error(fault)
  bundles.set(source.href, file)
  return file
}

/** Flags of Node that a program needs: a thread or another program that it starts is loaded from its source. */
export const PROGRAM_FLAGS: ReadonlyArray<string> = ["--conditions=source"]

/** What a program is started with beside its own environment: what was compiled once need not be compiled again. */
export const compileCache = (): Readonly<Record<string, string>> => ({ NODE_COMPILE_CACHE: join(home(), "compiled") })
