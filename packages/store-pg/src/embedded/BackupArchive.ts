/**
 * Writes the archive of a backup. The file appears under its name whole or not at all: until it is complete and flushed
 * to disk it has another name.
 *
 * Decision: docs/decisions/0017-the-backup-file.md
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

export interface ArchiveOptions {
  /** Must not exist. Gzipped unless its name ends in `.tar`. */
  readonly file: string
  /** Called after every chunk. */
  readonly wrote: (bytes: number) => void
}

/** Whole pages of the database, many at once. */
const CHUNK_BYTES = 1024 * 1024

const PARTIAL = ".cabinet-partial"

/** A host name may contain any characters except these delimiters. */
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
  return new BackupArchive(file, unfinished, await open(unfinished, "w", 0o600), wrote)
}

export class BackupArchive {
  readonly #file: string
  readonly #unfinished: string
  readonly #handle: FileHandle
  readonly #wrote: (bytes: number) => void
  readonly #tar: Pack = pack()
  readonly #sum = new BackupSum()
  /** Resolves once everything is written. */
  readonly #written: Promise<void>
  /** Aborted by `discard` and by the first error of writing, which is then the fault. */
  readonly #failed = new AbortController()
  #fault: unknown
  #isFinished = false

  constructor(file: string, unfinished: string, handle: FileHandle, wrote: (bytes: number) => void) {
    this.#file = file
    this.#unfinished = unfinished
    this.#handle = handle
    this.#wrote = wrote
    this.#written = pipeline(
      this.#tar as unknown as Readable,
      // A faster level: at the default one a backup takes three times as long, and is hardly smaller.
      file.endsWith(".tar") ? new PassThrough() : createGzip({ level: 3 }),
      createWriteStream(unfinished, { fd: handle.fd, autoClose: false }),
      { signal: this.#failed.signal },
    )
    this.#written.catch((error: unknown) => {
      this.#fault ??= error
      this.#failed.abort()
    })
  }

  head(head: BackupHead): Promise<void> {
    return this.text(HEAD_NAME, JSON.stringify(head))
  }

  directory(name: string): void {
    this.#tar.entry({ name: `${name}/`, type: "directory", mode: 0o700, mtime: new Date(0) })
  }

  text(name: string, content: string | Buffer): Promise<void> {
    return this.#orFault(async () => {
      const bytes = Buffer.from(content)
      const digest = await this.#add(name, bytes.length, [bytes])
      if (name !== HEAD_NAME && name !== END_NAME) this.#sum.add(name, bytes.length, digest)
    })
  }

  /** Adds a file with its current length, however it changes while it is read. */
  addFile(name: string, source: FileHandle): Promise<void> {
    return this.#orFault(async () => {
      const { size } = await source.stat()
      this.#sum.add(name, size, await this.#add(name, size, contentOf(source, size)))
    })
  }

  /** Renames the archive to its final name, and returns its size. */
  finish(): Promise<BackupEnd & { readonly archiveBytes: number }> {
    return this.#orFault(async () => {
      const end = this.#sum.end()
      await this.text(END_NAME, JSON.stringify(end))
      this.#tar.finalize()
      await this.#written
      await this.#handle.sync()
      await this.#handle.close()
      // Aborted at the last moment: the caller knows, and must not find a file.
      if (this.#failed.signal.aborted) throw new Error("the backup was cancelled")
      await rename(this.#unfinished, this.#file)
      this.#isFinished = true
      await syncDirectory(dirname(this.#file))
      return { ...end, archiveBytes: (await stat(this.#file)).size }
    })
  }

  /** Removes it after a failure; does nothing once it is finished. */
  async discard(): Promise<void> {
    if (this.#isFinished) return
    this.#failed.abort()
    await this.#written.catch(() => {})
    await this.#handle.close().catch(() => {})
    await rm(this.#unfinished, { force: true })
  }

  /** Returns the digest of the content. */
  async #add(name: string, size: number, content: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<string> {
    const { signal } = this.#failed
    const entry = this.#tar.entry({ name, size, mode: 0o600, mtime: new Date(0) })
    // An entry aborted midway fails along with the archive, whose error is the one to handle.
    entry.on("error", () => {})
    const digest = createHash("sha256")
    for await (const piece of content) {
      if (signal.aborted) throw this.#fault
      digest.update(piece)
      if (!entry.write(piece)) await once(entry, "drain", { signal })
      this.#wrote(piece.length)
    }
    entry.end()
    return digest.digest("hex")
  }

  /** Rejects with the error that stopped the writing, not with its consequences. */
  async #orFault<A>(work: () => Promise<A>): Promise<A> {
    try {
      return await work()
    } catch (error) {
      throw this.#fault ?? error
    }
  }
}

/** Bytes truncated meanwhile count as zeros: the log that goes with the backup covers the truncation. */
const contentOf = async function* (source: FileHandle, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < size;) {
    const want = Math.min(CHUNK_BYTES, size - at)
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
