/**
 * Writes the one file of a multipart upload to this machine's disk, in pieces, because it is read more than once.
 * Refuses bodies that are not multipart, no file or several, unknown fields, and too many bytes. The file has no name
 * on the disk, so its space is freed when the scope ends or the process is killed.
 */
import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { pipeline } from "node:stream/promises"
import { type FileError, fileError } from "@data-cabinet/core/file/FileError"
import type { ReadableFile } from "@data-cabinet/core/file/ReadableFile"
import busboy from "busboy"
import { Clock, Effect, type Scope, Stream } from "effect"
import { bodyConsumed } from "../intake/BodyReadError.ts"
import type { Request } from "../server/Request.ts"
import { openFile } from "./FileOnDisk.ts"

export interface Spooled {
  readonly file: ReadableFile
  /** The other fields of the form; if a name occurs several times, the last value. */
  readonly fields: ReadonlyMap<string, string>
}

export interface SpoolLimits {
  readonly fileBytes: number
  /** The longest wait for a piece of the body. */
  readonly idleMillis: number
  /** The least number of bytes that the sender must send in that time. */
  readonly leastBytes: number
}

const refuse = (message: string) => fileError("bad_option", message)

const reasonOf = (cause: unknown) => (cause instanceof Error ? cause.message : "the client closed the connection")
const interrupted = (cause: unknown) => fileError("unreadable", `The upload was interrupted: ${reasonOf(cause)}.`)
const diskError = (cause: unknown) =>
  fileError("interrupted", `The file cannot be stored on the server's disk: ${reasonOf(cause)}. Try again later.`)

/** A file that only this process can see, and that disappears when it is closed. */
const namelessFile = async (): Promise<FileHandle> => {
  const folder = await mkdtemp(join(tmpdir(), "data-cabinet-upload-"))
  try {
    return await open(join(folder, "file"), "wx+", 0o600)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The handle's own stream would keep it open; closing waits for this one's last write. */
const onto = (handle: FileHandle) => async (pieces: AsyncIterable<Uint8Array>) => {
  for await (const piece of pieces) await handle.appendFile(piece)
}

const MAX_NAME_LENGTH = 255

/** The name in a form that reports and lists can show, and that PostgreSQL can store. */
const shownName = (name: string): string =>
  basename(name)
    .replaceAll(/\p{Cc}/gu, "\uFFFD")
    .slice(0, MAX_NAME_LENGTH)
    .toWellFormed() || "upload"

/** Measures how fast a body arrives. Only the time spent waiting for the sender counts, not the time of our disk. */
class Progress {
  readonly #limits: SpoolLimits
  readonly #clock: Clock.Clock
  #waitsSince: number
  #waited = 0
  #bytes = 0

  constructor(limits: SpoolLimits, clock: Clock.Clock) {
    this.#limits = limits
    this.#clock = clock
    this.#waitsSince = clock.currentTimeMillisUnsafe()
  }

  /** From now on it waits for the sender. */
  wait(): void {
    this.#waitsSince = this.#clock.currentTimeMillisUnsafe()
  }

  /** Counts a piece that has arrived; returns false if the sender is too slow. */
  isEnough(bytes: number): boolean {
    this.#waited += this.#clock.currentTimeMillisUnsafe() - this.#waitsSince
    this.#bytes += bytes
    if (this.#waited < this.#limits.idleMillis) return true
    const isEnough = this.#bytes >= this.#limits.leastBytes
    this.#waited = 0
    this.#bytes = 0
    return isEnough
  }
}

export const spool = (
  request: Pick<Request, "headers" | "body">,
  limits: SpoolLimits,
): Effect.Effect<Spooled, FileError, Scope.Scope> =>
  Effect.gen(function* () {
    const form = yield* Effect.try({
      try: () =>
        busboy({
          headers: { "content-type": request.headers["content-type"] ?? "" },
          defParamCharset: "utf8",
          limits: { files: 1, fields: 20, fieldSize: 4096, parts: 25, fileSize: limits.fileBytes },
        }),
      catch: () => refuse("Send the file as multipart/form-data, in a part named file."),
    })
    const handle = yield* Effect.acquireRelease(Effect.tryPromise({ try: namelessFile, catch: diskError }), (opened) =>
      Effect.promise(() => opened.close()),
    )
    const fields = new Map<string, string>()
    let name: string | undefined
    let written: Promise<void> = Promise.resolve()
    let tooLarge = false
    let several = false
    let failure: FileError | undefined
    let wake = () => {}
    const fail = (error: FileError) => {
      failure ??= error
      wake()
    }
    form.on("field", (field, value) => fields.set(field, value))
    form.on("file", (_field, stream, info) => {
      name = shownName(info.filename ?? "")
      stream.on("limit", () => {
        tooLarge = true
      })
      written = pipeline(stream, onto(handle))
      written.catch((cause: unknown) => fail(diskError(cause)))
    })
    form.on("filesLimit", () => {
      several = true
    })
    form.on("error", (cause) => fail(interrupted(cause)))
    const parsed = new Promise<void>((resolve) => form.once("close", resolve))
    /** Waits until the form accepts more. A full disk or a failed form never does. */
    const roomOrFailure = Effect.callback<void, FileError>((resume) => {
      const done = () => {
        form.off("drain", done).off("close", done)
        wake = () => {}
        resume(failure === undefined ? Effect.void : Effect.fail(failure))
      }
      wake = done
      form.on("drain", done).on("close", done)
      if (failure !== undefined) done()
    })
    yield* Effect.addFinalizer(() => Effect.sync(() => form.destroy()))
    const progress = new Progress(limits, yield* Clock.Clock)
    yield* Stream.fromAsyncIterable(bytesOf(request), interrupted).pipe(
      Stream.timeoutOrElse({
        duration: limits.idleMillis,
        orElse: () => Stream.fail(interrupted(new Error("no data arrived for too long"))),
      }),
      Stream.runForEach((chunk) => {
        if (failure !== undefined) return Effect.fail(failure)
        if (tooLarge) return Effect.fail(fileError("too_large", `A file may be at most ${limits.fileBytes} bytes.`))
        if (!progress.isEnough(chunk.byteLength)) return Effect.fail(interrupted(new Error("it is too slow")))
        const taken = form.write(chunk) ? Effect.void : roomOrFailure
        return Effect.tap(taken, () => Effect.sync(() => progress.wait()))
      }),
    )
    form.end()
    yield* Effect.tryPromise({ try: () => parsed.then(() => written), catch: (cause) => failure ?? interrupted(cause) })
    if (failure !== undefined) return yield* failure
    if (tooLarge) return yield* fileError("too_large", `A file may be at most ${limits.fileBytes} bytes.`)
    if (several) return yield* refuse("Send one file per request.")
    if (name === undefined) return yield* refuse("The form has no file: send it in a part named file.")
    return { file: yield* openFile(handle, name), fields }
  })

/** The request outlives its body: it still needs a response. */
const bytesOf = ({ body }: Pick<Request, "body">): AsyncIterable<Uint8Array> => {
  if (body === undefined || body.readableEnded) throw bodyConsumed()
  return body.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>
}
