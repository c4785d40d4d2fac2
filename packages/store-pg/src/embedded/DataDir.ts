/**
 * The layout of a data directory (`.cabinet`), and the note that its users leave for one another.
 *
 *   pgdata/ the PostgreSQL cluster postgres.log its log, at most 8 MB and one predecessor server.json the address of
 * the running server, and which process serves password only without unix sockets
 * *.lock see DataDirLock
 */
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { join, resolve } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"
import { makeDirectories } from "./MakeDirectories.ts"

export interface DataDir {
  readonly root: string
  readonly pgdata: string
  readonly logFile: string
  readonly serverFile: string
  readonly passwordFile: string
  /** For library links that could not be created in node_modules. */
  readonly linksDir: string
  readonly serveLock: string
  readonly usersLock: string
  readonly startLock: string
}

/** A note for other processes: a hint only, never proof of anything. */
export interface ServerNote {
  /** The unix socket's directory; kept across restarts, so that pools find the server again. */
  readonly socketDir?: string
  /** The TCP port on systems without unix sockets; kept likewise. */
  readonly port?: number
  /** The TCP port for reports, if it was set when the server last started. */
  readonly reportsPort?: number
  /** Whether the role and the database have been created. */
  readonly bootstrapped?: boolean
  /** Whether the privileges that PUBLIC had in the cluster have been revoked. */
  readonly closed?: boolean
  /** The process that serves, if there is one. */
  readonly servingPid?: number
}

export const dataDirAt = (path: string): DataDir => {
  const root = resolve(path)
  return {
    root,
    pgdata: join(root, "pgdata"),
    logFile: join(root, "postgres.log"),
    serverFile: join(root, "server.json"),
    passwordFile: join(root, "password"),
    linksDir: join(root, "lib"),
    serveLock: join(root, "serve.lock"),
    usersLock: join(root, "users.lock"),
    startLock: join(root, "start.lock"),
  }
}

/**
 * Creates the directory, or checks that we may use it and the database in it. Its mode lets no other user read it. Only
 * root's may be traversed, because the server may have to run as another user, whose own directory inside is closed to
 * others again.
 *
 * @throws EmbeddedPostgresError `bad_data_dir`
 */
export const makeDataDir = (dir: DataDir): void => {
  try {
    const fresh = makeDirectories(dir.root, 0o700) !== undefined
    if (fresh) chmodSync(dir.root, process.getuid?.() === 0 ? 0o711 : 0o700)
  } catch (error) {
    throw new EmbeddedPostgresError({
      code: "bad_data_dir",
      message: `The data directory ${dir.root} cannot be created (${(error as Error).message}). Choose a writable one with --data-dir.`,
    })
  }
  for (const path of [dir.root, dir.pgdata, dir.logFile, dir.serverFile, dir.usersLock]) refuseForeign(path, dir.root)
}

/** Even a directory of ours may contain another user's files, for example after root served it once. */
const refuseForeign = (path: string, root: string): void => {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
    if (path === root || path.endsWith("pgdata")) accessSync(path, constants.X_OK)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return
    const owner = ownerOf(path)
    const user = userName(process.geteuid?.())
    const whose = owner === undefined || owner === user ? "cannot be used" : `belongs to ${owner} and cannot be used`
    throw new EmbeddedPostgresError({
      code: "bad_data_dir",
      message: `${path === root ? "The data directory" : "In the data directory,"} ${path} ${whose} by ${user}. Run as the user who owns the data, give the whole directory to yours (chown -R), or choose another with --data-dir.`,
    })
  }
}

const ownerOf = (path: string): string | undefined => {
  try {
    return userName(lstatSync(path).uid)
  } catch {
    return undefined
  }
}

const userName = (uid: number | undefined): string => {
  if (uid === undefined) return "this user"
  if (uid === 0) return "root"
  return uid === process.geteuid?.() ? `this user (number ${uid})` : `another user (number ${uid})`
}

export const readNote = (dir: DataDir): ServerNote => {
  try {
    return existsSync(dir.serverFile) ? (JSON.parse(readFileSync(dir.serverFile, "utf8")) as ServerNote) : {}
  } catch {
    return {}
  }
}

/**
 * Replaces the note atomically, so that no reader sees a partial one. A note that says the same stays: a restart on a
 * full disk must not fail for it.
 */
export const writeNote = (dir: DataDir, note: ServerNote): void => {
  if (isDeepStrictEqual(readNote(dir), note)) return
  const fresh = `${dir.serverFile}.${process.pid}`
  try {
    writeFileSync(fresh, `${JSON.stringify(note)}\n`, { mode: 0o600 })
    renameSync(fresh, dir.serverFile)
  } catch (error) {
    rmSync(fresh, { force: true })
    throw error
  }
}
