/**
 * What must hold before anything else of the library is loaded, which therefore imports this first; of nothing but Node,
 * and in the words of an old one too. Refuses a Node that is too old.
 */
import { isAbsolute, join } from "node:path"

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)

if (major < 22 || (major === 22 && minor < 19)) {
  throw new Error(
    `data-cabinet needs Node.js 22.19 or newer, and this is ${process.version}. Get it from https://nodejs.org.`,
  )
}

// `node -e` and `node -p` have a global of this name that is no path, and a module that we need takes it for its own.
const program = globalThis as { __filename?: unknown }
if (typeof program.__filename === "string" && !isAbsolute(program.__filename)) {
  program.__filename = join(process.cwd(), program.__filename)
}
