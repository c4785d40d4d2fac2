/**
 * `npm test`: prepares the clone, then runs the suite, without what takes long by itself (`LONG` in vitest.config.ts), which
 * `npm run ok` runs. Arguments after `--` go to vitest, and then nothing is left out: `npm test -- --project=long`.
 * `--watch` runs what a change concerns, again at each change, without a build.
 */
import { join } from "node:path"
import { prepare, root, runAndExit } from "./prepare.mjs"

const words = process.argv.slice(2)
const watches = words.includes("--watch")
await prepare({ build: !watches })
const chosen =
  words.length === 0 ? ["pure", "pure-alone", "alone", "faults", "together"].map((name) => `--project=${name}`) : words
const mode = watches ? ["watch", ...words.filter((word) => word !== "--watch")] : ["run", ...chosen]
runAndExit([join(root, "node_modules", "vitest", "vitest.mjs"), ...mode])
