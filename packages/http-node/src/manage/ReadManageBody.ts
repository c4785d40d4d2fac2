/**
 * The body of a management request: JSON of at most 1 MiB, decoded by the endpoint's schema. Refuses, in this order:
 * another content type (415), too many bytes (413), invalid JSON (400, with the position), and a violation of the
 * schema (400, with a JSON pointer). No message repeats a value of the body, which may be a secret.
 */
import { jsonErrorInWords, parseJson } from "@data-cabinet/core/json/ParseJson"
import type { TimerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import { Effect, Exit, Result, Schema, SchemaIssue } from "effect"
import { HeldBodies, type Limits } from "../intake/BodyLimits.ts"
import type { Request } from "../server/Request.ts"
import type { ManageError } from "./ManageError.ts"
import { bodyOf } from "../intake/IncomingBody.ts"

const LIMITS: Limits = { maxBytes: 1_048_576, idle: 10_000, total: 30_000, buffered: 64 * 1_048_576, store: 0 }

const isJson = (contentType: string | undefined): boolean =>
  /^application\/json\s*(;.*)?$/i.test((contentType ?? "").trim())

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false })

const refuse = (code: ManageError["code"], message: string, param: string | null = null): ManageError => ({
  code,
  message,
  param,
})

/** A member's name as a step of a JSON pointer. */
const pointer = (path: ReadonlyArray<PropertyKey>): string =>
  path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")

const toText = (bytes: Uint8Array): Result.Result<string, ManageError> => {
  try {
    return Result.succeed(decoder.decode(bytes))
  } catch {
    return Result.fail(refuse("bad_json", "The body is not UTF-8."))
  }
}

const toJson = (text: string): Result.Result<unknown, ManageError> => {
  // Our own reader first: it says where, and bounds the depth.
  const read = parseJson(text)
  if (Result.isFailure(read)) return Result.fail(refuse("bad_json", jsonErrorInWords(read.failure)))
  return Result.succeed(JSON.parse(text.replace(/^\uFEFF/, "")) as unknown)
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const inWords = (schema: Schema.Codec<unknown, unknown>) => {
  const decode = Schema.decodeUnknownExit(schema, { onExcessProperty: "error" })
  return (value: unknown): Result.Result<unknown, ManageError> => {
    const exit = decode(value)
    if (Exit.isSuccess(exit)) return Result.succeed(exit.value)
    const failure = exit.cause.reasons.find((reason) => reason._tag === "Fail")
    const issue = failure === undefined ? undefined : format(failure.error.issue).issues[0]
    const at = pointer((issue?.path ?? []) as ReadonlyArray<PropertyKey>)
    const place = at === "" ? "The body" : at
    const message = issue?.message ?? "Invalid"
    if (message === "Expected no excess property") {
      return Result.fail(refuse("unknown_field", `This endpoint has no field ${at}.`, at))
    }
    const words = message === "Missing key" ? `${place} is missing.` : `${place}: ${message}.`
    return Result.fail(refuse("bad_body", words, at))
  }
}

/** A body that passed, with its text as sent. */
export interface ReadBody {
  readonly value: unknown
  readonly text: string
}

/** Reads bodies of this schema. */
export const manageBody = (schema: Schema.Codec<unknown, unknown>, wheel: TimerWheel) =>
  Effect.map(HeldBodies, (budget) => {
    const decode = inWords(schema)
    return Effect.fnUntraced(function* (request: Request): Effect.fn.Return<ReadBody, ManageError> {
      if (!isJson(request.headers["content-type"])) {
        return yield* Effect.fail(
          refuse("unsupported_media_type", "Send the body as JSON, with Content-Type: application/json."),
        )
      }
      if ((request.headers["content-encoding"] ?? "identity") !== "identity") {
        return yield* Effect.fail(refuse("unsupported_media_type", "Send the body without a Content-Encoding."))
      }
      const body = bodyOf(request, LIMITS, budget, wheel)
      const whole = yield* Effect.onInterrupt(Effect.promise(body.whole), () => Effect.sync(body.drop))
      if (Result.isFailure(whole)) {
        const large = "code" in whole.failure && whole.failure.code === "too_large"
        return yield* Effect.fail(
          large
            ? refuse("too_large", `The body has more than ${LIMITS.maxBytes} bytes.`)
            : refuse("unavailable", "The request ended before the body was complete."),
        )
      }
      const text = yield* Effect.fromResult(toText(whole.success))
      const value = yield* Effect.fromResult(Result.flatMap(toJson(text), decode))
      return { value, text }
    })
  })
