/**
 * Takes the one file of a multipart upload onto this machine's disk, in pieces, because it is read more than once. It
 * refuses what is not multipart, no file or several, fields it does not know, and more bytes than allowed. The disk is
 * given back when the scope ends.
 */
import { createWriteStream } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { pipeline } from "node:stream/promises"
import { type FileError, fileError } from "@data-cabinet/core/file/FileError"
import busboy from "busboy"
import { Effect, type Scope, Stream } from "effect"
import type { HttpServerRequest } from "effect/http"

export interface Spooled {
  readonly path: string
  readonly name: string
  /** The other fields of the form; the last of a name. */
  readonly fields: ReadonlyMap<string, string>
}

export interface SpoolLimits {
  readonly fileBytes: number
  /** Between two pieces of the body. */
  readonly idleMillis: number
}

const refuse = (message: string) => fileError("bad_option", message)

export const spool = (
  request: HttpServerRequest.HttpServerRequest,
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
    const folder = yield* Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "data-cabinet-upload-"))),
      (made) => Effect.promise(() => rm(made, { recursive: true, force: true })),
    )
    const path = join(folder, "file")
    const fields = new Map<string, string>()
    let name: string | undefined
    let written: Promise<void> = Promise.resolve()
    let tooLarge = false
    let several = false
    form.on("field", (field, value) => fields.set(field, value))
    form.on("file", (_field, stream, info) => {
      name = basename(info.filename ?? "") || "upload"
      stream.on("limit", () => {
        tooLarge = true
      })
      written = pipeline(stream, createWriteStream(path, { mode: 0o600 }))
      written.catch(() => {})
    })
    form.on("filesLimit", () => {
      several = true
    })
    const parsed = new Promise<void>((resolve, reject) => {
      form.once("close", resolve)
      form.once("error", reject)
    })
    parsed.catch(() => {})
    const brokenOff = (cause: unknown) =>
      fileError("unreadable", `The upload broke off: ${cause instanceof Error ? cause.message : "the sender hung up"}.`)
    yield* Effect.addFinalizer(() => Effect.sync(() => form.destroy()))
    yield* request.stream.pipe(
      Stream.timeoutOrElse({ duration: limits.idleMillis, orElse: () => Stream.fail("it stood still") }),
      Stream.mapError(brokenOff),
      Stream.runForEach((chunk) => {
        if (tooLarge) return Effect.fail(fileError("too_large", `A file may have ${limits.fileBytes} bytes here.`))
        if (form.write(chunk)) return Effect.void
        return Effect.tryPromise({
          try: () => Promise.race([new Promise<void>((resolve) => form.once("drain", resolve)), parsed]),
          catch: brokenOff,
        })
      }),
    )
    form.end()
    yield* Effect.tryPromise({ try: () => parsed.then(() => written), catch: brokenOff })
    if (tooLarge) return yield* fileError("too_large", `A file may have ${limits.fileBytes} bytes here.`)
    if (several) return yield* refuse("Send one file a request.")
    if (name === undefined) return yield* refuse("The form has no file: send it in a part named file.")
    return { path, name, fields }
  })
