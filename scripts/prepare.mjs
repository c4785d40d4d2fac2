/**
 * Prepares a clone to run: installs missing packages, builds what is older than its sources. Plain JavaScript without
 * dependencies, for any Node that a machine has; everything after it runs on the Node 24 that it installs. When nothing is
 * missing it does nothing, prints nothing and needs no network.
 */
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { constants } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { whenAbandoned } from "../packages/cli/bin/whenAbandoned.mjs"

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
export const node24 = join(root, "node_modules", "node24", "bin", process.platform === "win32" ? "node.exe" : "node")

const pnpm = "pnpm@12.21.0"
const stamps = join(root, "node_modules", ".data-cabinet")
const installed = join(stamps, "installed")
const built = join(stamps, "built")
const lock = join(root, ".prepare.lock")

/** Exits with a message when something is not available. */
export const prepare = async ({ build }) => {
  const major = Number(process.versions.node.split(".")[0])
  if (major < 18)
    stop(
      `Data Cabinet requires Node.js 20 or newer to start, but this is ${process.version}. Get it from https://nodejs.org.`,
    )
  if (isInstalled() && (!build || isBuilt())) return
  const release = await alone()
  try {
    if (!isInstalled()) await install()
    if (build && !isBuilt()) await compile()
  } finally {
    release()
  }
}

/**
 * Runs a program of ours on Node 24 in the foreground and exits as it exited. For a program that `stays` until it is told
 * to stop a signal is a normal end; any other program was aborted by it, and the next command of a script (`npm test && …`)
 * must not run.
 */
export const runAndExit = (words, { stays = false } = {}) => {
  const bin = join(root, "node_modules", ".bin")
  const separator = process.platform === "win32" ? ";" : ":"
  const path = `${bin}${separator}${process.env.PATH ?? ""}`
  const child = spawn(node24, words, { stdio: "inherit", env: { ...process.env, PATH: path } })
  let asked
  const forward = (signal) =>
    process.on(signal, () => {
      asked ??= signal
      // Ctrl-C in a terminal has already reached every process of its group.
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal)
    })
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) forward(signal)
  whenAbandoned(() => {
    asked ??= "SIGTERM"
    child.kill("SIGTERM")
  })
  child.on("error", (error) =>
    stop(`Node 24 in node_modules does not run here (${error.message}). Remove node_modules and start again.`),
  )
  child.on("exit", (code, signal) => {
    if (asked === undefined) process.exit(code ?? signalExitCode(signal))
    const broken = signalExitCode(asked)
    process.exit(stays ? (signal !== null || code > 128 ? 0 : code) : code || broken)
  })
}

const signalExitCode = (signal) => 128 + constants.signals[signal]

const isInstalled = () => existsSync(node24) && read(installed) === wanted()

/** The input that decides whether an installation is still current. */
const wanted = () => {
  const hash = createHash("sha256")
  for (const file of ["pnpm-lock.yaml", "pnpm-workspace.yaml", "package.json"])
    hash.update(readFileSync(join(root, file)))
  return hash.digest("hex")
}

const install = async () => {
  say("Installing Data Cabinet (once, about a minute) …")
  const words = ["--yes", pnpm, "install", "--frozen-lockfile"]
  // CI=true lets pnpm continue without a terminal for its questions.
  await run("npx", words, { CI: "true" }, (output) =>
    /ERR_PNPM_(LOCKFILE|OUTDATED_LOCKFILE)/.test(output)
      ? "pnpm-lock.yaml was changed and does not fit this clone. git checkout pnpm-lock.yaml restores it."
      : "The packages could not be installed. Is the npm registry within reach?",
  )
  if (!existsSync(node24))
    stop("The packages are installed, but Node 24 is not among them. Remove node_modules and start again.")
  mkdirSync(stamps, { recursive: true })
  writeFileSync(installed, wanted())
}

const isBuilt = () => {
  const time = statSync(built, { throwIfNoEntry: false })?.mtimeMs
  return (
    time !== undefined && existsSync(join(root, "packages", "cli", "dist", "cabinet.cjs")) && newestSource() <= time
  )
}

const newestSource = () => {
  const recipe = ["tsconfig.base.json", join("scripts", "build.mjs"), join("scripts", "bundle", "embedFiles.mjs")]
  let newest = Math.max(...recipe.map((file) => statSync(join(root, file)).mtimeMs))
  const look = (dir) => {
    for (const entry of readdirSync(dir, { withFileTypes: true })) {
      const path = join(dir, entry.name)
      if (entry.isDirectory()) look(path)
      else newest = Math.max(newest, statSync(path).mtimeMs)
    }
    // A removed file leaves only its directory's time.
    newest = Math.max(newest, statSync(dir).mtimeMs)
  }
  for (const name of readdirSync(join(root, "packages"))) {
    const src = join(root, "packages", name, "src")
    if (existsSync(src)) look(src)
  }
  return newest
}

const compile = async () => {
  say("Building …")
  const began = new Date()
  await run(node24, [join(root, "scripts", "build.mjs")], {}, () => "The sources do not compile.")
  mkdirSync(stamps, { recursive: true })
  writeFileSync(built, began.toISOString())
  // Sources that changed during the build are newer than its beginning, and are rebuilt next time.
  utimesSync(built, began, began)
}

/** Runs silently; its output is shown only if it fails. */
const run = (program, words, env, fault) =>
  new Promise((resolve) => {
    const child = spawn(program, words, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      // On Windows npx is a .cmd file, which only a shell runs.
      shell: process.platform === "win32" && program === "npx",
    })
    let output = ""
    const keep = (bytes) => (output = (output + bytes).slice(-20_000))
    child.stdout.on("data", keep)
    child.stderr.on("data", keep)
    child.on("error", (error) => stop(`${fault(output)}\n${error.message}`))
    child.on("close", (code) => {
      if (code === 0) return resolve()
      stop(`${fault(output)}\n\n${output.trim().split("\n").slice(-30).join("\n")}`)
    })
  })

/** Two starts in one clone must not install over each other: the second waits, then finds everything done. */
const alone = async () => {
  let told = false
  for (;;) {
    try {
      closeSync(openSync(lock, "wx"))
      writeFileSync(lock, String(process.pid))
      const release = () => rmSync(lock, { force: true })
      const leave = (signal) => process.exit(signalExitCode(signal))
      process.once("exit", release)
      for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, leave)
      return () => {
        release()
        process.off("exit", release)
        for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, leave)
      }
    } catch (error) {
      if (error.code !== "EEXIST") stop(`The clone cannot be written (${error.message}). Run as the user who owns it.`)
    }
    if (isAbandoned()) {
      // Renamed first, so that of two processes that see it only one removes it.
      try {
        renameSync(lock, `${lock}.${process.pid}`)
        rmSync(`${lock}.${process.pid}`, { force: true })
      } catch {
        // The other process was faster.
      }
      continue
    }
    if (!told) say("Another start is installing; waiting for it …")
    told = true
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
}

const isAbandoned = () => {
  const pid = Number(read(lock))
  const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
  // Empty for the instant between its creation and its first write.
  if (!(pid > 0)) return age > 5000
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return error.code === "ESRCH"
  }
}

const read = (file) => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return undefined
  }
}

const say = (text) => process.stderr.write(`${text}\n`)

const stop = (text) => {
  say(text)
  process.exit(1)
}
