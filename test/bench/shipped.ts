/** The command `cabinet` as users of the package have it: bundled, not the sources. */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const BUILD = fileURLToPath(new URL("../../scripts/build.mjs", import.meta.url))
const CABINET = fileURLToPath(new URL("../../packages/cli/bin/cabinet.mjs", import.meta.url))

let built = false

/** Its path; the first call of a run builds it from these sources. */
export const shippedCabinet = (): string => {
  if (!built) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [BUILD], { encoding: "utf8" })
    if (status !== 0) throw new Error(`the sources do not compile: ${stdout}${stderr}`)
    built = true
  }
  return CABINET
}
