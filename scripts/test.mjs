/** `npm test`: prepares the clone, then runs the whole suite. Arguments after `--` go to vitest. */
import { join } from "node:path"
import { prepare, root, runAndExit } from "./prepare.mjs"

await prepare({ build: true })
runAndExit([join(root, "node_modules", "vitest", "vitest.mjs"), "run", ...process.argv.slice(2)])
