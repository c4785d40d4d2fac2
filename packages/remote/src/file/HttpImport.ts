/** A file into a source of a remote cabinet: uploaded as it is read, and imported by its server. */
import { randomUUID } from "node:crypto"
import { FileError } from "@data-cabinet/core/file/FileError"
import { Import, type ImportOptions, type ImportProgress, type ImportReport } from "@data-cabinet/core/file/Import"
import type { ReadableFile } from "@data-cabinet/core/file/ReadableFile"
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Effect, Layer, Stream } from "effect"
import { camelKeys } from "@data-cabinet/core/json/KeyCase"
import { ManageApi } from "../http/ManageApi.ts"
import { ofCodes, refusedAs, RemoteRefusal } from "../http/RemoteRefusal.ts"
import type { HttpResponse } from "../http/Transport.ts"

type Fields = ReadonlyArray<readonly [name: string, value: string]>

const fieldsOf = ({ dryRun, skipRefused, headerRow, ...options }: ImportOptions): Fields =>
  Object.entries({ ...options, header_row: headerRow, dry_run: dryRun, skip_refused: skipRefused }).flatMap(
    ([name, value]) => (value === undefined ? [] : [[name, String(value)] as const]),
  )

/** A name between quotes in a header. */
const inQuotes = (name: string) => name.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22")

/** The form around the file: options come first, so that a wrong one is known before the file. */
const formAround = ({ name }: ReadableFile, fields: Fields) => {
  const boundary = `cabinet-${randomUUID()}`
  const head = [
    ...fields.map(
      ([field, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`,
    ),
    `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${inQuotes(name)}"\r\ncontent-type: application/octet-stream\r\n\r\n`,
  ].join("")
  return { boundary, head: Buffer.from(head), tail: Buffer.from(`\r\n--${boundary}--\r\n`) }
}

interface Uploaded {
  readonly error?: string
  readonly detail?: string
}

type SentReport = Omit<ImportReport, "importedBefore"> & {
  readonly importedBefore: { readonly rows: number; readonly file: string } | null
}

/** The fields of an earlier import have other names in the program. */
const reportOf = (sent: SentReport): ImportReport => {
  const { importedBefore } = sent
  if (importedBefore === null) return sent as ImportReport
  const { rows: staged, file: name, ...before } = importedBefore
  return { ...sent, importedBefore: { ...before, staged, name, channel: "file" } as ImportReport["importedBefore"] }
}

/** Errors whose body is the import's report. */
const REPORTED = new Set(["rows_refused", "delimiter_unclear", "failed"])

const resultOf = ({ body, headers }: HttpResponse): Effect.Effect<ImportReport, RemoteRefusal | StoreUnavailable> => {
  const retryAfter = Number(headers["retry-after"] ?? 0) || 0
  const refuse = (code: string, message: string) => new RemoteRefusal({ code, message, param: null, retryAfter })
  let value: Uploaded
  try {
    value = JSON.parse(body.toString()) as Uploaded
  } catch {
    return Effect.fail(
      refuse("not_a_cabinet", "The server does not accept files: it is not a cabinet, or a proxy refused them."),
    )
  }
  const { error, detail = "" } = value
  if (error === undefined || REPORTED.has(error)) {
    const { ok: _, error: __, detail: ___, ...report } = camelKeys(value) as SentReport & Uploaded & { ok?: boolean }
    return Effect.succeed(reportOf(report))
  }
  if (error === "unavailable")
    return Effect.fail(new StoreUnavailable({ message: detail, retryAfter, outcomeUnknown: false }))
  if (error === "unauthorized") {
    const message =
      "The server refused the access token: it is wrong, expired or was revoked. Set CABINET_TOKEN to one that is valid."
    return Effect.fail(refuse(error, message))
  }
  return Effect.fail(refuse(error, detail))
}

export const layer = Layer.effect(
  Import,
  Effect.map(ManageApi, (api) =>
    Import.of({
      file: Effect.fnUntraced(function* (sourceId, file, options, onProgress = () => Effect.void) {
        const fields = fieldsOf(options)
        const { boundary, head, tail } = formAround(file, fields)
        const progress = { phase: "staging", total: file.size } as const satisfies Omit<ImportProgress, "done">
        let done = 0
        let unreadable: FileError | undefined
        const pieces = yield* Effect.map(Effect.context(), (context) =>
          Stream.toAsyncIterableWith(
            file.bytes.pipe(
              Stream.tap((piece) => {
                done += piece.byteLength
                return onProgress({ ...progress, done })
              }),
              Stream.tapError((error) => Effect.sync(() => void (unreadable = error))),
            ),
            context,
          ),
        )
        const body = (async function* () {
          yield head
          yield* pieces
          yield tail
        })()
        const headers = {
          "content-type": `multipart/form-data; boundary=${boundary}`,
          "content-length": String(head.length + file.size + tail.length),
        }
        const uploaded = api.exchange(
          `/upload/${sourceId}`,
          { method: "POST", headers, body },
          { form: { file: file.name, fields } },
        )
        return yield* refusedAs(Effect.flatMap(uploaded, resultOf), ofCodes(FileError)).pipe(
          // The request broke off because reading the file failed: the message names that reason.
          Effect.catchTag("StoreUnavailable", (error) => Effect.fail(unreadable ?? error)),
        )
      }),
    }),
  ),
)
