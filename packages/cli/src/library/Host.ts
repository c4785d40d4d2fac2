/**
 * Preconditions of the whole library, whose entry points therefore import this file first. It imports nothing but Node, and
 * its syntax runs on an old Node. Refuses a Node that is too old.
 */
import { isAbsolute, join } from "node:path"

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)

if (major < 22 || (major === 22 && minor < 19)) {
  throw new Error(
    `data-cabinet requires Node.js 22.19 or newer, but this is ${process.version}. Get it from https://nodejs.org.`,
  )
}

// `node -e` and `node -p` define a global of this name that is not a path, and a module that we need takes it for its own.
const program = globalThis as { __filename?: unknown }
if (typeof program.__filename === "string" && !isAbsolute(program.__filename)) {
  program.__filename = join(process.cwd(), program.__filename)
}
