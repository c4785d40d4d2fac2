/**
 * Preconditions of the library, such as a Node that is new enough. Its entry points import this file first. It imports only
 * Node's modules, and its syntax runs on an old Node.
 */
import { isAbsolute, join } from "node:path"

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)

if (major < 22 || (major === 22 && minor < 19)) {
  throw new Error(
    `data-cabinet requires Node.js 22.19 or newer, but this is ${process.version}. Get it from https://nodejs.org.`,
  )
}

// `node -e` and `node -p` define this global, but not as a path, and a module that we need uses it as its own path.
const program = globalThis as { __filename?: unknown }
if (typeof program.__filename === "string" && !isAbsolute(program.__filename)) {
  program.__filename = join(process.cwd(), program.__filename)
}
