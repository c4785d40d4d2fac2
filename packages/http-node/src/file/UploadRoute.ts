/**
 * `POST /upload/{source_id}`: uploads a file into a source, for holders of an access token whose role allows it. Before
 * it reads the body, it checks the method, the token (401; 429 for an address with many wrong ones, see SecretLookups),
 * its role (403), the source's number, and whether a slot is free. Responds with JSON: the import's report, or
 * `{ok: false, error, detail}`.
 */
import { faultInWords } from "../server/Fault.ts"
import { type Actor, CurrentActor } from "@data-cabinet/core/audit/Actor"
import { DELIMITER_UNCLEAR } from "@data-cabinet/core/file/Delimiter"
import { type FileError, fileError } from "@data-cabinet/core/file/FileError"
import type { FileFormat } from "@data-cabinet/core/file/FileFormat"
import { MAX_FILE_BYTES } from "@data-cabinet/core/file/FileInspection"
import { Import, type ImportOptions, type ImportReport, importJson } from "@data-cabinet/core/file/Import"
import type { DateNotation, NumberNotation } from "@data-cabinet/core/row/Notation"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { bearerToken, tokenFingerprint } from "@data-cabinet/core/key/AccessToken"
import { AccessTokens } from "@data-cabinet/core/key/AccessTokens"
import { SecretLookups, type TooManyWrong } from "@data-cabinet/core/limit/SecretLookups"
import { mayDo, roleMissing } from "@data-cabinet/core/key/Role"
import { parseSourceId } from "@data-cabinet/core/source/SourceId"
import { Context, Effect, Option, type Scope } from "effect"
import { clientAddress, NO_PROXIES } from "../server/ClientAddress.ts"
import { ManageRates } from "../manage/Identify.ts"
import { HttpSettings } from "../server/HttpSettings.ts"
import { effectRunner } from "../server/EffectRunner.ts"
import type { Response, Request } from "../server/Request.ts"
import type { Route } from "../server/Route.ts"
import { spool, type SpoolLimits } from "./Spool.ts"
import { UploadPlaces } from "./UploadPlaces.ts"
import { jsonLine } from "../parser/BadRequest.ts"

/** The size and time limits of an upload, and how many a cabinet accepts at once in one process. */
export const UploadLimits = Context.Reference<SpoolLimits & { readonly atOnce: number }>(
  "@data-cabinet/http-node/file/UploadLimits",
  { defaultValue: () => ({ fileBytes: MAX_FILE_BYTES, idleMillis: 30_000, leastBytes: 65_536, atOnce: 8 }) },
)

/** Seconds after which an upload that found no slot may be retried. */
const BUSY_RETRY_SECONDS = 10

const STATUS: Readonly<Record<FileError["code"], number>> = {
  no_such_source: 404,
  no_such_import: 404,
  bad_option: 400,
  same_file: 409,
  unreadable: 422,
  too_large: 413,
  interrupted: 503,
  busy: 503,
  import_running: 409,
  import_not_recorded: 409,
  import_done: 409,
  import_cancelled: 409,
}

const jsonResponse = (status: number, body: object, headers: Readonly<Record<string, string>> = {}): Response => ({
  status,
  headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  body: jsonLine(body),
})

const refused = (status: number, error: string, detail: string, headers: Readonly<Record<string, string>> = {}) =>
  jsonResponse(status, { ok: false, error, detail }, { ...headers, connection: "close" })

/** The error codes of reports: nothing was imported, or not everything. */
const REPORT_ERRORS: Partial<Record<ImportReport["state"], string>> = {
  refused: "rows_refused",
  unclear: "delimiter_unclear",
  failed: "failed",
}

const reported = (report: ImportReport) =>
  REPORT_ERRORS[report.state] !== undefined
    ? jsonResponse(422, {
        ok: false,
        error: REPORT_ERRORS[report.state],
        ...(report.state === "unclear" ? { detail: DELIMITER_UNCLEAR } : {}),
        ...importJson(report),
      })
    : jsonResponse(report.state === "accepting" ? 202 : 200, { ok: true, ...importJson(report) })

const KNOWN = new Set([
  "format",
  "encoding",
  "delimiter",
  "header",
  "header_row",
  "sheet",
  "pointer",
  "numbers",
  "dates",
  "dry_run",
  "again",
  "skip_refused",
])

const flag = (name: string, value: string | undefined): Effect.Effect<boolean | undefined, FileError> => {
  if (value === undefined || value === "") return Effect.succeed(undefined)
  if (value === "true" || value === "false") return Effect.succeed(value === "true")
  return Effect.fail(fileError("bad_option", `${name} must be true or false.`))
}

/** Options are fields of the form or of the query; a misspelt one is refused before anything is stored. */
const optionsOf = Effect.fnUntraced(function* (fields: ReadonlyMap<string, string>) {
  for (const name of fields.keys()) {
    if (!KNOWN.has(name))
      return yield* fileError("bad_option", `${name} is not an option; the options are ${[...KNOWN].join(", ")}.`)
  }
  const text = (name: string) => fields.get(name) || undefined
  const options: ImportOptions = {
    format: text("format") as FileFormat | undefined,
    encoding: text("encoding"),
    delimiter: text("delimiter"),
    sheet: text("sheet"),
    pointer: text("pointer"),
    // The use case refuses an invalid notation.
    numbers: text("numbers") as NumberNotation | undefined,
    dates: text("dates") as DateNotation | undefined,
    header: yield* flag("header", fields.get("header")),
    headerRow: text("header_row") === undefined ? undefined : Number(text("header_row")),
    dryRun: yield* flag("dry_run", fields.get("dry_run")),
    again: yield* flag("again", fields.get("again")),
    skipRefused: yield* flag("skip_refused", fields.get("skip_refused")),
  }
  return options
})

const refusal = (error: FileError | StoreUnavailable | TooManyWrong): Response => {
  if (error._tag === "TooManyWrong") {
    const detail = `Too many wrong access tokens came from this address. Try again in ${error.retryAfter} s.`
    return refused(429, "rate_limited", detail, { "retry-after": String(error.retryAfter) })
  }
  if (error._tag === "StoreUnavailable") {
    return refused(503, "unavailable", error.message, { "retry-after": String(error.retryAfter) })
  }
  const headers = error.code === "busy" ? { "retry-after": String(BUSY_RETRY_SECONDS) } : undefined
  return refused(STATUS[error.code], error.code, error.message, headers)
}

/** Empty for a cabinet composed without imports. */
export const uploadRoutes: Effect.Effect<ReadonlyArray<Route>, never, Scope.Scope> = Effect.gen(function* () {
  const [import_, tokens_] = [yield* Effect.serviceOption(Import), yield* Effect.serviceOption(AccessTokens)]
  if (Option.isNone(import_) || Option.isNone(tokens_)) return []
  const [imports, tokens] = [import_.value, tokens_.value]
  const limits = yield* UploadLimits
  const settings = yield* Effect.serviceOption(HttpSettings)
  const trustedProxies = Option.match(settings, { onNone: () => NO_PROXIES, onSome: (its) => its.trustedProxies })
  const run = yield* effectRunner
  const places = new UploadPlaces(limits.atOnce)
  const lookups = new SecretLookups((yield* ManageRates).wrong)

  const takeIn = Effect.fnUntraced(function* (request: Request, sourceId: number, query: string) {
    const spooled = yield* spool(request, limits)
    const options = yield* optionsOf(new Map([...new URLSearchParams(query), ...spooled.fields]))
    return reported(yield* imports.file(sourceId, spooled.file, options))
  }, Effect.scoped)

  const take = Effect.fnUntraced(function* (request: Request, segment: string, query: string) {
    const from = clientAddress(request, trustedProxies)
    const sent = bearerToken(request.headers["authorization"])
    const fingerprint = sent === null ? null : tokenFingerprint(sent)
    const token =
      fingerprint === null ? Option.none() : yield* lookups.find(from, fingerprint, tokens.find(fingerprint))
    if (Option.isNone(token)) {
      const detail = "Send an access token in the header Authorization: Bearer <token>."
      return refused(401, "unauthorized", detail, { "www-authenticate": "Bearer" })
    }
    if (!mayDo(token.value.role, "file.upload")) {
      return refused(403, "role_missing", roleMissing("file.upload", token.value.role))
    }
    const sourceId = parseSourceId(segment)
    if (sourceId === "malformed") return refused(400, "bad_source_id", "The source id must be a positive integer.")
    if (sourceId === "unknown") return refused(404, "no_such_source", `There is no source ${segment}.`)
    const { id, name, role } = token.value
    const actor: Actor = { kind: "token", id, name, role, from, requestId: request.id }
    const work = Effect.provideService(takeIn(request, sourceId, query), CurrentActor, actor)
    const taken = yield* places.run(id, work)
    if (Option.isSome(taken)) return taken.value
    const detail = `Too many uploads are in progress (at most ${limits.atOnce}, and ${places.mostOfToken} of one token): try again later.`
    return refused(503, "busy", detail, { "retry-after": String(BUSY_RETRY_SECONDS) })
  })

  const handle: Route["handle"] = async (request, { params, query }) => {
    if (request.method !== "POST") {
      return refused(405, "method_not_allowed", "Send the file with POST.", { allow: "POST" })
    }
    const work = take(request, params[0] ?? "", query).pipe(Effect.catch((error) => Effect.succeed(refusal(error))))
    return run(request, work)
  }

  const route: Route = {
    path: "/upload/{source_id}",
    handle,
    fault: (fault) => refused(500, "internal_error", faultInWords(fault)),
  }
  return [route]
})
