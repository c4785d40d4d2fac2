/**
 * Programs that tests start as separate processes. Loading a thousand modules takes a second and a half of CPU, and loading
 * one file a third of a second. So each program is bundled once per test run, in the folder of the run's cluster.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { inject } from "vitest"

const BUNDLE = fileURLToPath(new URL("bundleProgram.ts", import.meta.url))

const home = () => join(dirname(inject("postgresSocketDir")), "programs")

const bundles = new Map<string, string>()

/**
 * Returns the bundle of the program at `source`. The first caller of a test run builds it, and the others wait. It blocks the
 * thread for seconds, which would use up the time limits of statements that are under way: call it while the file is loaded.
 */
export const program = (source: URL): string => {
  const known = bundles.get(source.href)
  if (known !== undefined) return known
  const name = basename(source.pathname, ".ts")
  const folder = join(home(), name)
  const done = join(folder, "done")
  const file = join(folder, `${name}.mjs`)
  if (mkdirSync(folder, { recursive: true }) !== undefined) {
    const built = spawnSync(process.execPath, [BUNDLE, fileURLToPath(source), file], { encoding: "utf8" })
    // Renamed into place, so that no process reads a partial file.
    writeFileSync(
      `${done}.new`,
      built.status === 0 ? "" : `${fileURLToPath(source)} cannot be bundled: ${built.stderr}`,
    )
    renameSync(`${done}.new`, done)
  }
  while (!existsSync(done)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
  const fault = readFileSync(done, "utf8")
  if (fault !== "") throw new Error(fault)
  bundles.set(source.href, file)
  return file
}

/** Node's flags for a program, so that threads and programs that it starts are loaded from their sources. */
export const PROGRAM_FLAGS: ReadonlyArray<string> = ["--conditions=source"]

/** Environment variables for a program, so that Node caches compiled code. */
export const compileCache = (): Readonly<Record<string, string>> => ({ NODE_COMPILE_CACHE: join(home(), "compiled") })
