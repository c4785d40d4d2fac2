/**
 * Restores a backup into a data directory without a database. The cluster appears under its name whole and checked or not
 * at all: an interrupted run leaves only a directory with another name, which the next run, or the next server, removes.
 * Refuses a data directory that holds a database or is in use, and a file that is damaged or not a backup.
 *
 * The feed begins a new epoch at the server's first start, as at every start, so clients' cursors stay valid.
 */
import { createHash } from "node:crypto"
import { createReadStream, renameSync } from "node:fs"
import { mkdir, open, writeFile } from "node:fs/promises"
import { join as joinPath, resolve } from "node:path"
import { PassThrough, type Readable, type Writable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { createGunzip } from "node:zlib"
import { Effect } from "effect"
import { type Entry, extract } from "tar-stream"
import { attempt } from "./Attempt.ts"
import { syncDirectory } from "./BackupArchive.ts"
import {
  badBackup,
  type BackupEnd,
  type BackupHead,
  BackupSum,
  checkEnd,
  clusterPath,
  END_NAME,
  HEAD_NAME,
  PASSWORD_NAME,
  readHead,
} from "./BackupFormat.ts"
import { chosenBinaries } from "./Binaries.ts"
import { directoryBeside } from "./Cluster.ts"
import { type DataDir, dataDirAt, makeDataDir } from "./DataDir.ts"
import { lockWithin } from "./DataDirLock.ts"
import * as EmbeddedPostgres from "./EmbeddedPostgres.ts"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"

export interface RestoreOptions {
  /** Created if it does not exist. */
  readonly dataDir: string
  readonly file: string
  /** The directory of the programs of the machine's own PostgreSQL; default: the shipped one. */
  readonly bin?: string | undefined
  /** Called as the file is read. */
  readonly tell?: (progress: { readonly done: number; readonly total: number }) => void
}

export interface RestoreReport extends Omit<BackupEnd, "digest"> {
  readonly file: string
  readonly dataDir: string
  readonly madeAt: string
  readonly postgres: number
}

const refused = (message: string) => new EmbeddedPostgresError({ code: "restore_refused", message })

export const restore = (options: RestoreOptions): Effect.Effect<RestoreReport, EmbeddedPostgresError> =>
  Effect.gen(function* () {
    const dir = dataDirAt(options.dataDir)
    const file = resolve(options.file)
    yield* attempt(async () => makeDataDir(dir))
    for (const lock of [dir.serveLock, dir.usersLock]) yield* alone(dir, lock)
    if (EmbeddedPostgres.exists(dir.root)) {
      return yield* refused(
        `There is a database in ${dir.root} already, and a restore does not overwrite data. Name an empty directory with --data-dir, or move ${dir.pgdata} away.`,
      )
    }
    return yield* Effect.tryPromise({
      try: (signal) => unpack(dir, file, signal, options),
      catch: (error) => inWords(file, error),
    })
  }).pipe(Effect.scoped)

/** No other process may start to use the directory meanwhile. */
const alone = (dir: DataDir, lock: string) =>
  Effect.acquireRelease(
    Effect.flatMap(lockWithin(lock, "alone", 3, 100), (held) =>
      held === undefined
        ? Effect.fail(refused(`Another process uses ${dir.root}. End it, or name another directory with --data-dir.`))
        : Effect.succeed(held),
    ),
    (held) => Effect.sync(held.release),
  )

const inWords = (file: string, error: unknown): EmbeddedPostgresError => {
  if (error instanceof EmbeddedPostgresError) return error
  const { code = "", message } = error as NodeJS.ErrnoException
  if (code === "ENOENT" || code === "EACCES" || code === "EISDIR") return refused(`${file} cannot be read: ${message}.`)
  // zlib's codes begin with Z_; the archive's own errors have none.
  if (code.startsWith("Z_") || code === "" || code === "ERR_STREAM_PREMATURE_CLOSE") {
    return badBackup(file, `it is damaged or incomplete (${message}). Copy it again from where it was created.`)
  }
  return new EmbeddedPostgresError({
    code: "restore_failed",
    message: `The backup cannot be moved into place: ${message}. Nothing was changed.`,
  })
}

/** The stream of the archive itself, gzipped or not. */
const opened = async (file: string, tell: RestoreOptions["tell"]) => {
  const handle = await open(file, "r")
  const { size } = await handle.stat()
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0)
  const isGzip = bytesRead === 2 && buffer.readUInt16BE() === 0x1f8b
  let done = 0
  const source = createReadStream(file, { fd: handle, start: 0, highWaterMark: 1024 * 1024 })
  source.on("data", (piece) => tell?.({ done: (done += piece.length), total: size }))
  return { source, plain: isGzip ? createGunzip() : new PassThrough() }
}

const unpack = async (
  dir: DataDir,
  file: string,
  signal: AbortSignal,
  { bin, tell }: RestoreOptions,
): Promise<RestoreReport> => {
  const { major } = chosenBinaries(bin, dir.linksDir)
  const { source, plain } = await opened(file, tell)
  const entries = extract()
  const reading = pipeline(source, plain, entries as unknown as Writable, { signal })
  // A failure reaches the loop below through the end of the archive.
  reading.catch(() => {})
  const fresh = directoryBeside(dir.pgdata)
  try {
    const target = joinPath(fresh.path, "pgdata")
    const sum = new BackupSum()
    const directories: Array<string> = []
    const files: Array<string> = []
    let head: BackupHead | undefined
    let password: Buffer | undefined
    let end: string | undefined
    for await (const entry of entries) {
      const { name, type } = entry.header
      if (head === undefined) {
        if (name !== HEAD_NAME) throw badBackup(file, "it was not created by `cabinet backup`.")
        head = readHead(file, (await contentOf(entry)).toString(), major)
      } else if (name === END_NAME) end = (await contentOf(entry)).toString()
      else if (type === "directory") {
        const path = joinPath(target, ...clusterPath(file, name))
        await mkdir(path, { mode: 0o700 })
        directories.push(path)
        entry.resume()
      } else if (name === PASSWORD_NAME) {
        password = await contentOf(entry)
        sum.add(name, password.length, digestOf(password))
      } else {
        const path = joinPath(target, ...clusterPath(file, name))
        files.push(path)
        await putFile(path, entry, name, sum)
      }
    }
    await reading
    if (head === undefined) throw badBackup(file, "it is empty.")
    const found = sum.end()
    checkEnd(file, end, found)
    await syncAll(files, directories)
    if (password !== undefined) await writeFile(dir.passwordFile, password, { mode: 0o600, flush: true })
    renameSync(target, dir.pgdata)
    await syncDirectory(dir.root)
    const { madeAt, postgres } = head
    return { file, dataDir: dir.root, madeAt, postgres, files: found.files, bytes: found.bytes }
  } finally {
    entries.destroy()
    fresh.remove()
  }
}

const digestOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex")

/** Only for small entries. */
const contentOf = async (entry: Entry): Promise<Buffer> => {
  const pieces: Array<Buffer> = []
  for await (const piece of entry as unknown as Readable) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

/** Not file by file during extraction: most of the time would be spent there, even for a restore that is then refused. */
const syncAll = async (files: ReadonlyArray<string>, directories: ReadonlyArray<string>): Promise<void> => {
  const left = files.values()
  const syncSome = async () => {
    for (const path of left) {
      const handle = await open(path, "r+")
      await handle.sync().finally(() => handle.close())
    }
  }
  await Promise.all(Array.from({ length: 16 }, syncSome))
  for (const path of directories) await syncDirectory(path)
}

const putFile = async (path: string, entry: Entry, name: string, sum: BackupSum): Promise<void> => {
  const handle = await open(path, "wx", 0o600)
  try {
    const hash = createHash("sha256")
    let size = 0
    for await (const piece of entry as unknown as Readable) {
      const bytes = piece as Buffer
      hash.update(bytes)
      await handle.writeFile(bytes)
      size += bytes.length
    }
    sum.add(name, size, hash.digest("hex"))
  } finally {
    await handle.close()
  }
}
