/**
 * `npm test`: prepares the clone, then runs the whole suite. Arguments after `--` go to vitest; `--watch` runs what a change
 * concerns, again at each change, without a build.
 */
import { join } from "node:path"
import { prepare, root, runAndExit } from "./prepare.mjs"

const words = process.argv.slice(2)
const watches = words.includes("--watch")
await prepare({ build: !watches })
const mode = watches ? ["watch", ...words.filter((word) => word !== "--watch")] : ["run", ...words]
runAndExit([join(root, "node_modules", "vitest", "vitest.mjs"), ...mode])
