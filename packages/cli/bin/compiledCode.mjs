/**
 * Keeps the compiled code of a program that runs for long, with every function that its start has compiled; Node's own cache
 * has only those that V8 compiles before it runs a file. Plain JavaScript, like all that runs before the program.
 *
 * V8 refuses code of another version of itself or made with other flags. It does not prove that the code belongs to the
 * source, so a file is found by a hash of both, in a folder that nobody else can write to. Nor does it see that bytes are
 * damaged, as they are after a loss of power: a file ends with a checksum.
 */
import crypto from "node:crypto"
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import module, { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { setFlagsFromString } from "node:v8"
import vm from "node:vm"
import zlib from "node:zlib"

/** When most of what a start runs has run. Heap.ts sets one flag from time to time, and sets it again after us. */
const SAVE_AFTER_MILLIS = 2_000
const PAUSE_MILLIS = 50
/** The flag's usual value: V8 refuses code that was made under any other. */
const USUAL_FLAGS = "--semi-space-growth-factor=2"

/** Set by Heap.ts as well; set here before anything is compiled, because it belongs to the flags of the code. */
const FIRST_FLAGS = "--heap-growing-percent=150"

const OLD_MILLIS = 30 * 86_400_000

/** Our folder, or undefined where it is not ours alone. */
const folder = () => {
  if (process.getuid === undefined || process.env.NODE_DISABLE_COMPILE_CACHE !== undefined) return undefined
  const path = join(tmpdir(), `data-cabinet-compiled-${process.getuid()}`)
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    const { uid, mode } = lstatSync(path)
    return (mode & 0o170077) === 0o040000 && uid === process.getuid() ? path : undefined
  } catch {
    return undefined
  }
}

const CHECKSUM_BYTES = 4

const withChecksum = (code) => {
  const checksum = Buffer.alloc(CHECKSUM_BYTES)
  checksum.writeUInt32BE(zlib.crc32(code))
  return Buffer.concat([code, checksum])
}

/** Undefined if the file is missing or damaged. */
const read = (path) => {
  try {
    const bytes = readFileSync(path)
    const code = bytes.subarray(0, -CHECKSUM_BYTES)
    return zlib.crc32(code) === bytes.readUInt32BE(code.length) ? code : undefined
  } catch {
    return undefined
  }
}

const removeOld = (path) => {
  for (const name of readdirSync(path)) {
    const file = join(path, name)
    if (Date.now() - statSync(file).mtimeMs > OLD_MILLIS) rmSync(file, { force: true })
  }
}

/** One script at a time, because each holds the event loop for some milliseconds. */
const save = (path, fresh) => {
  const next = fresh.shift()
  if (next === undefined) return removeOld(path)
  setFlagsFromString(USUAL_FLAGS)
  const unfinished = `${next.file}.${process.pid}`
  writeFileSync(unfinished, withChecksum(next.script.createCachedData()), { mode: 0o600 })
  renameSync(unfinished, next.file)
  setTimeout(tried(save), PAUSE_MILLIS, path, fresh).unref()
}

/** A full disk is no reason to end a server. */
const tried =
  (work) =>
  (...args) => {
    try {
      work(...args)
    } catch {}
  }

/** Runs a program of CommonJS with its compiled code; false where it cannot be kept. */
export const runCompiled = (entry, saveAfterMillis = SAVE_AFTER_MILLIS) => {
  const path = folder()
  if (path === undefined) return false
  setFlagsFromString(FIRST_FLAGS)
  const flags = JSON.stringify([process.version, process.arch, process.execArgv, process.env.NODE_OPTIONS])
  const require = createRequire(import.meta.url)
  const usual = require.extensions[".cjs"] ?? require.extensions[".js"]
  const ours = dirname(entry)
  const fresh = []
  require.extensions[".cjs"] = (mod, filename) => {
    if (dirname(filename) !== ours) return usual(mod, filename)
    const bytes = readFileSync(filename)
    // ASCII alone.
    const source = bytes.latin1Slice()
    const key = crypto.createHash("sha256").update(flags).update(filename).update(bytes).digest("hex")
    const file = join(path, `${basename(filename)}-${key}`)
    const cachedData = read(file)
    setFlagsFromString(USUAL_FLAGS)
    const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
    const script = new vm.Script(module.wrap(source), { filename, cachedData, importModuleDynamically })
    if (script.cachedDataRejected !== false) fresh.push({ file, script })
    script.runInThisContext().call(mod.exports, mod.exports, createRequire(filename), mod, filename, ours)
  }
  setTimeout(tried(save), saveAfterMillis, path, fresh).unref()
  require(entry)
  return true
}
