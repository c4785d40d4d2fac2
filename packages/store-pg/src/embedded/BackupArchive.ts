/**
 * Writes the archive of a backup. The file appears under its name whole or not at all: until it is complete and flushed
 * to disk it has another name.
 */
import { createHash } from "node:crypto"
import { once } from "node:events"
import { createWriteStream } from "node:fs"
import { type FileHandle, open, readdir, rename, rm, stat } from "node:fs/promises"
import { hostname } from "node:os"
import { dirname, join } from "node:path"
import { PassThrough, type Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { createGzip } from "node:zlib"
import { pack, type Pack } from "tar-stream"
import { type BackupEnd, type BackupHead, BackupSum, END_NAME, HEAD_NAME } from "./BackupFormat.ts"

export interface BackupArchive {
  readonly head: (head: BackupHead) => Promise<void>
  readonly directory: (name: string) => Promise<void>
  readonly text: (name: string, content: string | Buffer) => Promise<void>
  /** Adds a file with its current length, however it changes while it is read. */
  readonly file: (name: string, handle: FileHandle) => Promise<void>
  /** Renames the archive to its final name, and returns its size. */
  readonly finish: () => Promise<BackupEnd & { readonly archiveBytes: number }>
  /** Removes it after a failure; does nothing once it is finished. */
  readonly discard: () => Promise<void>
}

export interface ArchiveOptions {
  /** Must not exist. Gzipped unless its name ends in `.tar`. */
  readonly file: string
  /** Called after every chunk. */
  readonly wrote: (bytes: number) => void
}

/** Whole pages of the database, many at once. */
const CHUNK = 1024 * 1024

const PARTIAL = ".cabinet-partial"

/** A host name may contain any characters but those that delimit it here. */
const HOST = hostname().replaceAll(/[^\w-]/g, "-")

/**
 * Removes what killed backups left in this directory. A file is kept if its process still runs, or ran on another machine
 * that writes here, because it may still be in use.
 */
const clearLeftovers = async (directory: string): Promise<void> => {
  for (const name of await readdir(directory)) {
    const [, host, pid] = /\.([\w-]+)\.(\d{1,10})\.cabinet-partial$/.exec(name) ?? []
    if (host === HOST && !isRunning(Number(pid))) await rm(join(directory, name), { force: true })
  }
}

/** Checks for another process: an earlier one with our own process id is gone. */
const isRunning = (pid: number): boolean => {
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH"
  }
}

/** Rejects if the file cannot be created. */
export const createArchive = async ({ file, wrote }: ArchiveOptions): Promise<BackupArchive> => {
  await clearLeftovers(dirname(file))
  const unfinished = `${file}.${HOST}.${process.pid}${PARTIAL}`
  // It contains the keys' hashes and the roles' passwords.
  const handle = await open(unfinished, "w", 0o600)
  const tar: Pack = pack()
  const failed = new AbortController()
  const written = pipeline(
    tar as unknown as Readable,
    // A faster level: at the default one a backup takes three times as long, and is hardly smaller.
    file.endsWith(".tar") ? new PassThrough() : createGzip({ level: 3 }),
    createWriteStream(unfinished, { fd: handle.fd, autoClose: false }),
    { signal: failed.signal },
  )
  let fault: unknown
  written.catch((error: unknown) => {
    fault ??= error
    failed.abort()
  })
  const sum = new BackupSum()

  const add = async (name: string, size: number, content: AsyncIterable<Buffer> | Iterable<Buffer>) => {
    const entry = tar.entry({ name, size, mode: 0o600, mtime: new Date(0) })
    // An entry aborted midway fails along with the archive, whose own error is the one that is handled.
    entry.on("error", () => {})
    const hash = createHash("sha256")
    for await (const piece of content) {
      if (failed.signal.aborted) throw fault
      hash.update(piece)
      if (!entry.write(piece)) await once(entry, "drain", { signal: failed.signal })
      wrote(piece.length)
    }
    entry.end()
    return hash.digest("hex")
  }
  /** Reports the error that stopped the writing, not its consequences. */
  const orFault = async <A>(work: Promise<A>): Promise<A> => {
    try {
      return await work
    } catch (error) {
      throw fault ?? error
    }
  }
  const text: BackupArchive["text"] = (name, content) =>
    orFault(
      (async () => {
        const bytes = Buffer.from(content)
        const digest = await add(name, bytes.length, [bytes])
        if (name !== HEAD_NAME && name !== END_NAME) sum.add(name, bytes.length, digest)
      })(),
    )
  let finished = false
  return {
    text,
    head: (head) => text(HEAD_NAME, JSON.stringify(head)),
    directory: async (name) => {
      tar.entry({ name: `${name}/`, type: "directory", mode: 0o700, mtime: new Date(0) })
    },
    file: (name, source) =>
      orFault(
        (async () => {
          const { size } = await source.stat()
          sum.add(name, size, await add(name, size, contentOf(source, size)))
        })(),
      ),
    finish: () =>
      orFault(
        (async () => {
          const end = sum.end()
          await text(END_NAME, JSON.stringify(end))
          tar.finalize()
          await written
          await handle.sync()
          await handle.close()
          // Aborted at the last moment: the caller was told so and must find no file.
          if (failed.signal.aborted) throw new Error("it was given up")
          await rename(unfinished, file)
          finished = true
          await syncDirectory(dirname(file))
          return { ...end, archiveBytes: (await stat(file)).size }
        })(),
      ),
    discard: async () => {
      if (finished) return
      failed.abort()
      await written.catch(() => {})
      await handle.close().catch(() => {})
      await rm(unfinished, { force: true })
    },
  }
}

/** Bytes truncated meanwhile count as zeros: the log that goes with the backup covers the truncation. */
const contentOf = async function* (source: FileHandle, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < size;) {
    const want = Math.min(CHUNK, size - at)
    const { bytesRead, buffer } = await source.read(Buffer.allocUnsafe(want), 0, want, at)
    const piece = bytesRead === 0 ? Buffer.alloc(want) : buffer.subarray(0, bytesRead)
    yield piece
    at += piece.length
  }
}

/** A directory entry is durable only once the directory is flushed; not every system lets a directory be opened. */
export const syncDirectory = async (path: string): Promise<void> => {
  const handle = await open(path, "r").catch(() => undefined)
  await handle?.sync().catch(() => {})
  await handle?.close()
}
