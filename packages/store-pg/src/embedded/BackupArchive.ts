/**
 * Writes the archive of a backup. It appears under its name whole or not at all: until then it has another name, and the
 * disk has it before it gets its own.
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
  /** With the length that it has now, whatever becomes of it while it is read. */
  readonly file: (name: string, handle: FileHandle) => Promise<void>
  /** Gives it its name, and how large it became. */
  readonly finish: () => Promise<BackupEnd & { readonly archiveBytes: number }>
  /** After a failure; does nothing once it is finished. */
  readonly discard: () => Promise<void>
}

export interface ArchiveOptions {
  /** Must not be there. Gzipped unless its name ends in `.tar`. */
  readonly file: string
  /** Told after every piece. */
  readonly wrote: (bytes: number) => void
}

/** Whole pages of the database, many at once. */
const CHUNK = 1024 * 1024

const PARTIAL = ".cabinet-partial"

/** A name may hold anything but what ends it here. */
const HOST = hostname().replaceAll(/[^\w-]/g, "-")

/**
 * Removes what backups into this directory left that were killed. Whose process is still there, or ran on another
 * machine that writes here, may be at it.
 */
const clearLeftovers = async (directory: string): Promise<void> => {
  for (const name of await readdir(directory)) {
    const [, host, pid] = /\.([\w-]+)\.(\d{1,10})\.cabinet-partial$/.exec(name) ?? []
    if (host === HOST && !isRunning(Number(pid))) await rm(join(directory, name), { force: true })
  }
}

/** Another process: one that had our own number is gone. */
const isRunning = (pid: number): boolean => {
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH"
  }
}

/** Rejects where the file cannot be made. */
export const createArchive = async ({ file, wrote }: ArchiveOptions): Promise<BackupArchive> => {
  await clearLeftovers(dirname(file))
  const unfinished = `${file}.${HOST}.${process.pid}${PARTIAL}`
  // It holds the keys' hashes and the roles' passwords.
  const handle = await open(unfinished, "w", 0o600)
  const tar: Pack = pack()
  const failed = new AbortController()
  const written = pipeline(
    tar as unknown as Readable,
    // A faster level: at the usual one a backup takes three times as long, and is little smaller.
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
    // Given up in its middle it fails beside the archive, which is what is listened to.
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
  /** What stopped the writing, not what came of that. */
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
          // Given up in the last moment: whoever was told so finds nothing.
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

/** What was cut off meanwhile counts as zeros: the log that goes with the backup knows of it. */
const contentOf = async function* (source: FileHandle, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < size;) {
    const want = Math.min(CHUNK, size - at)
    const { bytesRead, buffer } = await source.read(Buffer.allocUnsafe(want), 0, want, at)
    const piece = bytesRead === 0 ? Buffer.alloc(want) : buffer.subarray(0, bytesRead)
    yield piece
    at += piece.length
  }
}

/** A name in a directory is on the disk only once the directory is; not every system lets one be opened. */
export const syncDirectory = async (path: string): Promise<void> => {
  const handle = await open(path, "r").catch(() => undefined)
  await handle?.sync().catch(() => {})
  await handle?.close()
}
