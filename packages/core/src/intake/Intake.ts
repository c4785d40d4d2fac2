/**
 * Intake: who may send, what a body says, and its way into the log. Every body from an admitted sender that is within the
 * limits becomes an event, whether it parses or not; what is refused is refused before anything is kept.
 */
import { type Cause, Context, Effect, Exit, Layer, Option } from "effect"
import { type Ask, asked, Course, running, thenAtOnce } from "../runtime/Course.ts"
import { instrumentAsk } from "../runtime/Instrument.ts"
import { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { EventLog } from "../event/EventLog.ts"
import type { Receipt, SourceChanged } from "../event/EventLog.ts"
import { printedEvent } from "../event/Fingerprint.ts"
import { Memory, MemoryShares } from "../limit/MemoryBudget.ts"
import { RateLimiter } from "../limit/RateLimiter.ts"
import type { IntakeRateLimit } from "../limit/RateLimiter.ts"
import type { IntakeSource } from "../source/Source.ts"
import { Sources } from "../source/Sources.ts"
import { fieldsOf } from "./FieldsOf.ts"
import { IntakeError } from "./IntakeError.ts"
import type { IntakeAnswer, IntakeRequest } from "./IntakeRequest.ts"
import { firstOf, batchedParser, type PreparedSubmission, WEBHOOK } from "./PreparedSubmission.ts"

/** How often a submission is parsed again because its source changed under it, before its sender is asked to retry. */
const MAX_ATTEMPTS = 4

type Refused = IntakeError | StoreUnavailable

export class Intake extends Context.Service<
  Intake,
  {
    /**
     * Whether a request from this address to this secret may go on: the rate of the client (null: it has no address, and
     * is not counted), then the source, then the rate of the source. The body need not have been read. As with RateLimiter the
     * call counts, and what it gives may be an exit.
     */
    readonly admit: (secret: string, ip: string | null) => Effect.Effect<IntakeSource, Refused>
    /** Parses an admitted submission and appends its events. The answer comes after the commit. */
    readonly receive: (request: IntakeRequest) => Effect.Effect<IntakeAnswer, Refused>
    /** The same in plain calls. */
    readonly take: (request: IntakeRequest) => Ask<IntakeAnswer, Refused>
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
      const admission = yield* RateLimiter
      const log = yield* EventLog

      const parsing = batchedParser(new MemoryShares(yield* Memory))

      /** Appends what is prepared for the source, which is prepared again if that changed meanwhile. */
      const appending =
        <A>(submitted: Submitted<A>): Ask<A, Refused> =>
        (answer, context) => {
          const course = new Course<A, Refused>(answer, context)
          const attempt = (source: IntakeSource, left: number): void =>
            course.ask(submitted.prepare(source), ({ request, answerOf }) => {
              course.settle(instrumentAsk("intake.accept", log.take(request)), (appended) => {
                if (Exit.isSuccess(appended)) return course.end(Exit.succeed(answerOf(appended.value)))
                const { cause } = appended
                if (!hasChanged(cause)) return course.end(Exit.failCause(cause as Cause.Cause<StoreUnavailable>))
                if (left === 0) return course.end(Exit.fail(sourceKeepsChanging()))
                course.run(submitted.reload(), (found) =>
                  Option.isSome(found) ? attempt(found.value, left - 1) : course.end(Exit.fail(notFound())),
                )
              })
            })
          course.step(() => attempt(submitted.source, MAX_ATTEMPTS - 1))
          return () => course.giveUp()
        }

      const take = (request: IntakeRequest): Ask<IntakeAnswer, Refused> =>
        appending({
          source: request.source,
          reload: () => sources.bySecret(request.secret),
          prepare: (source) => parsing(request, source),
        })

      const admitUnknown = Effect.fnUntraced(function* (secret: string, ip: string | null) {
        if (ip !== null) yield* requireAllowed(yield* admission.intake(ip, null))
        const source = yield* sources.bySecret(secret)
        if (Option.isNone(source)) return yield* notFound()
        yield* requireAllowed(yield* admission.intake(null, source.value.id))
        return source.value
      })

      return {
        // One question to the store for a source that is known; a secret that is not costs its client first.
        admit: (secret, ip) => {
          const known = sources.remembered(secret)
          return known === undefined
            ? admitUnknown(secret, ip)
            : thenAtOnce(admission.intake(ip, known.id), (allowance) =>
                thenAtOnce(requireAllowed(allowance), () => Effect.succeed(known)),
              )
        },

        take,

        receive: (request) => asked(take(request)),

        accept: Effect.fnUntraced(function* (sourceId, fields) {
          const payload = yield* fieldsOf(fields)
          const events = [printedEvent(payload)]
          const source = yield* sources.forIntake(sourceId)
          if (Option.isNone(source)) return yield* notFound()
          const submitted: Submitted<Receipt> = {
            source: source.value,
            reload: () => sources.forIntake(sourceId),
            prepare: ({ id, version }) =>
              running(
                Effect.succeed({
                  request: { ...WEBHOOK, sourceId: id, sourceVersion: version, events, original: null },
                  answerOf: firstOf,
                }),
              ),
          }
          return yield* asked(appending(submitted))
        }),
      }
    }),
  )
}

interface Submitted<A> {
  readonly source: IntakeSource
  readonly prepare: (source: IntakeSource) => Ask<PreparedSubmission<A>, Refused>
  /** Looks the source up again. */
  readonly reload: () => Effect.Effect<Option.Option<IntakeSource>, StoreUnavailable>
}

const requireAllowed = (allowance: IntakeRateLimit): Effect.Effect<void, IntakeError> =>
  allowance.allowed
    ? Effect.void
    : Effect.fail(
        new IntakeError({
          code: "rate_limited",
          message: `More than ${allowance.limit} requests a minute for one ${allowance.whose === "client" ? "address" : "source"}: retry in ${allowance.retryAfter} s`,
          retryAfter: allowance.retryAfter,
        }),
      )

/** The source is not any more what the submission was prepared for. */
const hasChanged = (cause: Cause.Cause<SourceChanged | StoreUnavailable>): boolean =>
  cause.reasons.some((reason) => reason._tag === "Fail" && reason.error._tag === "SourceChanged")

const notFound = () => new IntakeError({ code: "not_found", message: "Nothing takes in data at this address" })

const sourceKeepsChanging = () =>
  new StoreUnavailable({
    message: "The source is being changed; nothing was saved, send it again",
    retryAfter: 1,
    outcomeUnknown: false,
  })
