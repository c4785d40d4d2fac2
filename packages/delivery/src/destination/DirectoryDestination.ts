/**
 * A destination in a directory. A slice is written under a temporary name, synchronized, and renamed: it appears
 * whole or not at all, even after a power failure. The newest name says how far the destination has come.
 */
import { randomBytes } from "node:crypto"
import { mkdir, open, readdir, rename, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import {
  DestinationFailure,
  type DestinationPlace,
  type OpenDestination,
} from "@data-cabinet/core/destination/Destination"
import { comparePlaces } from "@data-cabinet/core/feed/FeedTrail"
import { Effect } from "effect"
import { type EncodeSlice, lastPlace, sliceName } from "./SliceName.ts"

/** Where a slice is written before it appears; readers of `*.ndjson` or `*.parquet` do not see it. */
const temporaryName = (name: string): string => `.${name}.${randomBytes(4).toString("hex")}.part`

const TEMPORARY = /^\.([0-9a-f]{8})_.*\.part$/

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error ? String(error.code) : undefined

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

/** With the directories above it, as far as they are new. */
const makeDirectory = async (directory: string): Promise<void> => {
  const first = await mkdir(directory, { recursive: true })
  if (first === undefined) return
  for (let made = directory; made.length >= first.length; made = dirname(made)) await syncDirectory(dirname(made))
}

const namesIn = async (directory: string): Promise<ReadonlyArray<string>> => {
  try {
    return await readdir(directory)
  } catch (error) {
    if (codeOf(error) === "ENOENT") return []
    throw error
  }
}

const writeTemporary = async (path: string, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> => {
  const file = await open(path, "wx")
  try {
    for await (const piece of content) {
      if (signal.aborted) throw new DestinationFailure({ message: "The slice was given up." })
      await file.writeFile(piece)
    }
    await file.sync()
  } finally {
    await file.close()
  }
}

const failureOf = (error: unknown): DestinationFailure =>
  error instanceof DestinationFailure
    ? error
    : new DestinationFailure({ message: error instanceof Error ? error.message : String(error) })

const attempt = <A>(work: (signal: AbortSignal) => Promise<A>) => Effect.tryPromise({ try: work, catch: failureOf })

export const directoryDestination = (
  directory: string,
  place: Pick<DestinationPlace, "tag" | "format">,
  encode: EncodeSlice,
): OpenDestination => ({
  position: (known) =>
    attempt(async () => {
      const names = await namesIn(directory)
      const last = lastPlace(names, place.tag, "directory")
      // Of a process that was killed, or that has lost its lease: its slice must not appear any more.
      const remains = names.filter((name) => TEMPORARY.exec(name)?.[1] === place.tag)
      for (const name of remains) await rm(join(directory, name), { force: true })
      return last !== null && comparePlaces(last, known) > 0 ? last : null
    }),
  write: (slice) =>
    attempt(async (signal) => {
      await makeDirectory(directory)
      const name = sliceName(place, slice)
      const temporary = join(directory, temporaryName(name))
      try {
        await writeTemporary(temporary, encode(slice), signal)
        if (signal.aborted || !slice.mayAppear()) {
          throw new DestinationFailure({ message: "Writing a slice took longer than the lease of the destination." })
        }
        await rename(temporary, join(directory, name))
      } finally {
        await rm(temporary, { force: true })
      }
      await syncDirectory(directory)
    }),
})
