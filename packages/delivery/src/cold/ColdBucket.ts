/**
 * Files of cold history in a bucket of S3. A file is one object, written by one request: it appears whole or not at all. The end of
 * a file, which says what is in it, is read together with its size.
 */
import { setTimeout } from "node:timers/promises"
import type { Effect } from "effect"
import type { S3Bucket } from "../destination/S3Bucket.ts"
import { S3Failure } from "../destination/S3Failure.ts"
import { type ColdPlace, MissingFile, type Readable, UnreachablePlace } from "./ColdPlace.ts"

/** The part of a file that is read when it is opened: more than what a reader of Parquet begins with. */
const END_BYTES = 524_288

/** A write takes at most this long, and longer in proportion to its size: a connection below 8 Mbit/s is too slow. */
const WRITE_MILLIS = 14_000
const BYTES_A_MILLI = 1_000

/** Pauses before a read that failed for a passing reason is repeated. */
const PAUSES = [100, 500] as const

const CONTENT_TYPE = "application/vnd.apache.parquet"

/** Whether a refusal is likely to pass by itself. */
const isPassing = (error: unknown): boolean =>
  error instanceof S3Failure && error.status !== null && (error.status >= 500 || error.status === 429)

const isMissing = (error: unknown): boolean =>
  error instanceof S3Failure && error.status === 404 && error.code !== "NoSuchBucket"

const unreachable = (error: unknown): Error =>
  new UnreachablePlace(error instanceof Error ? error.message : String(error))

const arrayOf = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer

type Run = <A>(work: Effect.Effect<A, S3Failure>) => Promise<A>

/** `location`: as it is shown. The bucket is opened on first use. */
export const coldBucket = (location: string, bucket: () => Promise<S3Bucket>, run: Run): ColdPlace => {
  const part = async (name: string, start: number, end?: number) => {
    const opened = await bucket()
    for (let tries = 0; ; tries++) {
      try {
        return await run(opened.get(name, start, end))
      } catch (error) {
        if (isMissing(error)) throw new MissingFile(`The file ${name} is missing in ${location}.`)
        const pause = PAUSES[tries]
        if (pause === undefined || !isPassing(error)) throw unreachable(error)
        await setTimeout(pause)
      }
    }
  }

  return {
    location,
    create: async (name) => {
      const opened = await bucket()
      const pieces: Array<Uint8Array> = []
      return {
        append: (bytes) => Promise.resolve(void pieces.push(bytes)),
        finish: async () => {
          const body = new Uint8Array(Buffer.concat(pieces))
          await run(opened.put(name, body, CONTENT_TYPE, WRITE_MILLIS + Math.ceil(body.length / BYTES_A_MILLI)))
        },
        abandon: () => Promise.resolve(void pieces.splice(0)),
      }
    },
    open: async (name): Promise<Readable> => {
      const { bytes, size } = await part(name, -END_BYTES)
      const from = size - bytes.length
      let tail: Uint8Array | null = bytes
      return {
        byteLength: size,
        slice: async (start, end = size) => {
          const known = tail
          // Unlike the file, the bytes are not kept.
          tail = null
          if (known !== null && start >= from) return arrayOf(known.subarray(start - from, end - from))
          return arrayOf((await part(name, start, end)).bytes)
        },
      }
    },
    names: async (prefix) => {
      const opened = await bucket()
      const pages: Array<ReadonlyArray<string>> = []
      for (let token: string | null = null; ;) {
        const more: Readonly<Record<string, string>> = token === null ? {} : { "continuation-token": token }
        const { names, next } = await run(opened.page({ prefix, ...more }))
        pages.push(names)
        if (next === null) return pages.flat()
        if (next === token) throw new Error("The bucket gave the same page of a list twice.")
        token = next
      }
    },
    remove: async (name) => run((await bucket()).remove(name)),
  }
}
