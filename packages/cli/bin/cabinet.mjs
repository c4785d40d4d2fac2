#!/usr/bin/env node
/**
 * The command `cabinet`. It runs itself on Node 24 if one is installed (a clone brings its own), otherwise on the Node that
 * started it if that is new enough, and reports it if it is not. Plain JavaScript, so that an old Node can report it, too.
 */
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import module, { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { runCompiled } from "./compiledCode.mjs"
import { whenAbandoned } from "./whenAbandoned.mjs"

const here = dirname(fileURLToPath(import.meta.url))
const entry = join(here, "..", "dist", "cabinet.cjs")
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
const isNewEnough = major > 22 || (major === 22 && minor >= 19)

/** An installed Node 24: in a clone at its root, elsewhere as the package node24 if it was added. */
const node24 = () => {
  const name = process.platform === "win32" ? "node.exe" : "node"
  const places = [join(here, "..", "..", "..", "node_modules", "node24", "bin", name)]
  try {
    const manifest = createRequire(import.meta.url).resolve("node24/package.json")
    places.push(join(dirname(manifest), "bin", name))
  } catch {
    // Not installed: the running Node has to do.
  }
  return places.find((place) => existsSync(place))
}

const stop = (text) => {
  process.stderr.write(`${text}\n`)
  process.exit(1)
}

const runOn = (node) => {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: "inherit",
    env: { ...process.env, CABINET_NODE: node },
  })
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    // Ctrl-C in a terminal has already reached every process of its group.
    process.on(signal, () => {
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal)
    })
  }
  child.on("error", (error) => stop(`${node} does not run here (${error.message}).`))
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code ?? 1)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

if (process.env.npm_lifecycle_event === "npx") whenAbandoned(() => process.kill(process.pid, "SIGTERM"))

const better = major < 24 && process.env.CABINET_NODE === undefined ? node24() : undefined
if (better !== undefined) runOn(better)
else if (!isNewEnough) {
  stop(`cabinet requires Node.js 22.19 or newer, but this is ${process.version}. Get it from https://nodejs.org.`)
} else if (!existsSync(entry)) stop("cabinet is not built yet. Run npm start or npm test once in the clone.")
else {
  // A command lives for a second: the compile cache saves compiling the same code again.
  if (!["serve", "worker"].includes(process.argv[2]) || !runCompiled(entry)) {
    module.enableCompileCache?.()
    createRequire(import.meta.url)(entry)
  }
}
