/**
 * Files of cold history in a directory. A file is written under a temporary name, synchronized, and renamed: it appears whole
 * or not at all, even after a power failure.
 */
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import { type ColdPlace, MissingFile, type Readable } from "./ColdPlace.ts"

const isMissing = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "ENOENT"

const orMissing = async <A>(work: Promise<A>, path: string): Promise<A> => {
  try {
    return await work
  } catch (error) {
    throw isMissing(error) ? new MissingFile(`The file ${path} is missing.`) : error
  }
}

/** Makes the entries of a directory survive a power failure, where a directory can be opened. */
const syncDirectory = async (directory: string): Promise<void> => {
  try {
    const handle = await open(directory, "r")
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (process.platform !== "win32") throw error
  }
}

const readPart = async (path: string, start: number, end: number): Promise<ArrayBuffer> => {
  const handle = await orMissing(open(path, "r"), path)
  try {
    const bytes = new ArrayBuffer(end - start)
    for (let at = 0; at < bytes.byteLength;) {
      const { bytesRead } = await handle.read(new Uint8Array(bytes, at), 0, bytes.byteLength - at, start + at)
      if (bytesRead === 0) throw new Error(`The file ${path} ends too early.`)
      at += bytesRead
    }
    return bytes
  } finally {
    await handle.close()
  }
}

/** Until the file appears. */
const temporaryName = (name: string): string => `.${name}.part`

/** The directory is made when its first file is written. */
export const coldDirectory = (directory: string): ColdPlace => ({
  location: directory,
  create: async (name) => {
    await mkdir(directory, { recursive: true })
    const temporary = join(directory, temporaryName(name))
    const file = await open(temporary, "w")
    let isOpen = true
    const close = async () => {
      if (isOpen) await file.close()
      isOpen = false
    }
    return {
      append: async (bytes) => {
        await file.writeFile(bytes)
      },
      finish: async () => {
        await file.sync()
        await close()
        await rename(temporary, join(directory, name))
        await syncDirectory(directory)
      },
      abandon: async () => {
        await close()
        await rm(temporary, { force: true })
      },
    }
  },
  open: async (name): Promise<Readable> => {
    const path = join(directory, name)
    const { size } = await orMissing(stat(path), path)
    return { byteLength: size, slice: (start, end = size) => readPart(path, start, end) }
  },
  names: async (prefix) => {
    try {
      return (await readdir(directory)).filter((name) => name.startsWith(prefix)).toSorted()
    } catch (error) {
      if (isMissing(error)) return []
      throw error
    }
  },
  remove: async (name) => {
    for (const one of [name, temporaryName(name)]) await rm(join(directory, one), { force: true })
  },
})
