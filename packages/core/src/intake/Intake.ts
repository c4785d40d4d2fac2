/**
 * Intake: who may send, what a body says, and its way into the log. Every body from an admitted sender that is within the
 * limits becomes an event, whether it parses or not; what is refused is refused before anything is kept.
 */
import { Context, Effect, Layer, Option } from "effect"
import { stage } from "../cabinet/Stage.ts"
import { together } from "../cabinet/Together.ts"
import { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { EventLog } from "../event/EventLog.ts"
import type { AcceptRequest, Original, Receipt, SourceChanged } from "../event/EventLog.ts"
import { printedEvent } from "../event/Fingerprint.ts"
import { Admission } from "../limit/Admission.ts"
import type { IntakeAllowance } from "../limit/Admission.ts"
import type { IntakeSource } from "../source/Source.ts"
import { Sources } from "../source/Sources.ts"
import { fieldsOf } from "./FieldsOf.ts"
import { IntakeError } from "./IntakeError.ts"
import type { IntakeAnswer, IntakeRequest } from "./IntakeRequest.ts"
import { parseSubmission } from "./ParseSubmission.ts"
import { undecodableEvent } from "./UndecodableBody.ts"

/** Bytes of a body that are kept as the original. */
export const ORIGINAL_BYTES = 65_536

/** How often a submission is parsed anew because its source changed under it, before its sender is asked to come again. */
const MAX_ATTEMPTS = 4

type Refused = IntakeError | StoreUnavailable

export class Intake extends Context.Service<
  Intake,
  {
    /**
     * Whether a request from this address to this secret may go on: the rate of the client (null: it has no address, and
     * is not counted), then the source, then the rate of the source. The body need not have been read.
     */
    readonly admit: (secret: string, ip: string | null) => Effect.Effect<IntakeSource, Refused>
    /** Parses an admitted submission and appends its events. The answer comes after the commit. */
    readonly receive: (request: IntakeRequest) => Effect.Effect<IntakeAnswer, Refused>
    /**
     * One event from a program that knows the source: no secret, no rate, no original request, but the same repeats and the
     * same row. Values are read as JSON would write them, whole bigints included.
     */
    readonly accept: (sourceId: number, fields: Readonly<Record<string, unknown>>) => Effect.Effect<Receipt, Refused>
  }
>()("@data-cabinet/core/intake/Intake") {
  static readonly layer = Layer.effect(
    Intake,
    Effect.gen(function* () {
      const sources = yield* Sources
      const admission = yield* Admission
      const log = yield* EventLog

      const parsed = parsingTogether()

      const append = <A>(
        first: IntakeSource,
        again: () => Effect.Effect<Option.Option<IntakeSource>, StoreUnavailable>,
        prepare: (source: IntakeSource) => Effect.Effect<Prepared<A>, IntakeError>,
      ): Effect.Effect<A, Refused> => {
        const attempt = (source: IntakeSource, left: number): Effect.Effect<A, Refused> =>
          Effect.flatMap(prepare(source), ({ request, answer }) =>
            Effect.matchEffect(stage("intake.accept", log.append(request)), {
              onSuccess: (receipts) => Effect.succeed(answer(receipts)),
              onFailure: (error: SourceChanged | StoreUnavailable) =>
                error._tag === "StoreUnavailable"
                  ? Effect.fail(error)
                  : left === 0
                    ? Effect.fail(restless())
                    : Effect.flatMap(again(), (found) =>
                        Option.isNone(found) ? Effect.fail(notFound()) : attempt(found.value, left - 1),
                      ),
            }),
          )
        return attempt(first, MAX_ATTEMPTS - 1)
      }

      return {
        admit: Effect.fnUntraced(function* (secret, ip) {
          // One question to the store for a source that is known; a secret that is not costs its client first.
          const known = sources.remembered(secret)
          if (known !== undefined || ip !== null) yield* pass(yield* admission.intake(ip, known?.id ?? null))
          if (known !== undefined) return known
          const source = yield* sources.bySecret(secret)
          if (Option.isNone(source)) return yield* notFound()
          yield* pass(yield* admission.intake(null, source.value.id))
          return source.value
        }),

        receive: (request) =>
          append(
            request.source,
            () => sources.bySecret(request.secret),
            (source) => stage("intake.parse", parsed(request, source)),
          ),

        accept: Effect.fnUntraced(function* (sourceId, fields) {
          const payload = yield* fieldsOf(fields)
          const events = [printedEvent(payload)]
          const source = yield* sources.forIntake(sourceId)
          if (Option.isNone(source)) return yield* notFound()
          return yield* append(
            source.value,
            () => sources.forIntake(sourceId),
            ({ id, version }) =>
              Effect.succeed({
                request: { ...WEBHOOK, sourceId: id, sourceVersion: version, events, original: null },
                answer: firstOf,
              }),
          )
        }),
      }
    }),
  )
}

interface Prepared<A> {
  readonly request: AcceptRequest
  readonly answer: (receipts: ReadonlyArray<Receipt>) => A
}

const WEBHOOK = { channel: "webhook", history: false } as const

type Parsed = Effect.Effect<Prepared<IntakeAnswer>, IntakeError>

/** Parses what came at the same time in one go, before anything of it is appended. A fault ends only what it is in. */
const parsingTogether = () => {
  const parse = together<readonly [() => Parsed, (parsed: Parsed) => void]>(queueMicrotask, (all) => {
    const outcomes = all.map(([one]) => {
      try {
        return one()
      } catch (fault) {
        return Effect.die(fault)
      }
    })
    for (const [n, [, resume]] of all.entries()) resume(outcomes[n]!)
  })
  return (request: IntakeRequest, source: IntakeSource): Parsed =>
    Effect.callback((resume) => parse([() => prepared(request, source), resume]))
}

/** What to append for a request to this state of its source, and how its receipts read as an answer. */
const prepared = (request: IntakeRequest, source: IntakeSource): Parsed => {
  const submission = {
    body: request.body,
    contentType: request.sender.contentType,
    query: request.query,
    encoding: source.encoding,
  }
  const { undecodable } = request
  if (undecodable !== null) {
    const events = [undecodableEvent(submission, undecodable)]
    const charset = { name: "utf-8", decidedBy: "content_encoding", replaced: 0 }
    return Effect.succeed({
      request: accepted(source, events, original(request, charset)),
      answer: (receipts) => ({
        kind: "refused",
        error: "bad_encoding",
        detail: undecodable,
        receipt: firstOf(receipts),
      }),
    })
  }
  const parsed = parseSubmission(submission)
  if (parsed.tooMany !== null) return Effect.fail(tooMany(parsed.tooMany))
  const { refusal } = parsed
  return Effect.succeed({
    request: accepted(source, parsed.events, original(request, parsed.charset)),
    answer: (receipts) =>
      refusal !== null
        ? { kind: "refused", error: refusal.error, detail: refusal.detail, receipt: firstOf(receipts) }
        : parsed.shape === "batch"
          ? { kind: "batch", receipts }
          : { kind: "object", receipt: firstOf(receipts), thanksUrl: source.thanksUrl },
  })
}

const accepted = (source: IntakeSource, events: AcceptRequest["events"], kept: Original): AcceptRequest => ({
  ...WEBHOOK,
  sourceId: source.id,
  sourceVersion: source.version,
  events,
  original: kept,
})

const original = (
  { body, sender }: IntakeRequest,
  charset: { readonly name: string; readonly decidedBy: string; readonly replaced: number },
): Original => ({
  body: body.byteLength > ORIGINAL_BYTES ? body.subarray(0, ORIGINAL_BYTES) : body,
  bodyBytes: body.byteLength,
  contentType: sender.contentType ?? null,
  ip: sender.ip,
  referer: sender.referer,
  origin: sender.origin,
  userAgent: sender.userAgent,
  acceptLanguage: sender.acceptLanguage,
  charset: charset.name,
  charsetFrom: charset.decidedBy,
  replaced: charset.replaced,
})

const firstOf = (receipts: ReadonlyArray<Receipt>): Receipt => {
  const [receipt] = receipts
  if (receipt === undefined) throw new Error("The log gave no receipt for an appended event")
  return receipt
}

const pass = (allowance: IntakeAllowance): Effect.Effect<void, IntakeError> =>
  allowance.allowed
    ? Effect.void
    : Effect.fail(
        new IntakeError({
          code: "rate_limited",
          message: `More than ${allowance.limit} requests a minute for one ${allowance.whose === "client" ? "address" : "source"}: come again in ${allowance.retryAfter} s`,
          retryAfter: allowance.retryAfter,
        }),
      )

const notFound = () => new IntakeError({ code: "not_found", message: "Nothing takes in data at this address" })

const tooMany = ({ count, limit }: { readonly count: number; readonly limit: number }) =>
  new IntakeError({
    code: "too_many_items",
    message: `A batch may hold at most ${limit} objects, this one holds ${count}; nothing of it was saved`,
    count,
    limit,
  })

const restless = () =>
  new StoreUnavailable({
    message: "The source is being changed; nothing was saved, send it again",
    retryAfter: 1,
    outcomeUnknown: false,
  })
