import { Context, Effect, Layer, Option, Result } from "effect"
import { fromResult, runResult } from "../../src/runtime/FromResult.ts"
import type { StoreUnavailable } from "../../src/error/StoreUnavailable.ts"
import { EventLog, SourceChanged } from "../../src/event/EventLog.ts"
import type { AcceptRequest, Receipt } from "../../src/event/EventLog.ts"
import { Intake } from "../../src/intake/Intake.ts"
import type { IntakeRequest } from "../../src/intake/IntakeRequest.ts"
import { RateLimiter } from "../../src/limit/RateLimiter.ts"
import type { IntakeSource } from "../../src/source/Source.ts"
import { Sources } from "../../src/source/Sources.ts"
import { LimitedRequests } from "../../src/limit/LimitedRequests.ts"
import type { ProviderAnswer, ProviderToken } from "../../src/proof/ProofProviders.ts"
import { ProofProviders } from "../../src/proof/ProofProviders.ts"
import { SnsService } from "../../src/verification/VerifySns.ts"
import { RefusedSignatures } from "../../src/verification/VerifySender.ts"

/** A store that records its calls, and whose source can change during a submission. */
export const store = () => {
  const state = {
    source: {
      id: 7,
      version: 1,
      encoding: null,
      thanksUrl: null,
      kept: null,
      verification: null,
    } as IntakeSource | null,
    cached: null as IntakeSource | null,
    clientAllowed: true,
    sourceAllowed: true,
    asked: [] as Array<string>,
    appended: [] as Array<AcceptRequest>,
    refused: [] as Array<string>,
    limited: [] as Array<number>,
    sns: {
      certificate: () => Effect.succeed(null),
      confirm: () => Effect.void,
    } as SnsService["Service"],
    /** The tokens that a provider got, and its answer. */
    tokens: [] as Array<ProviderToken>,
    answer: Effect.succeed("valid") as Effect.Effect<ProviderAnswer>,
    onAppend: (): SourceChanged | StoreUnavailable | undefined => undefined,
  }
  const allowance = (allowed: boolean) => ({ allowed, limit: 60, remaining: 0, retryAfter: 42 })
  const sources = {
    cached: (secret: string) => (secret === "right" ? (state.cached ?? undefined) : undefined),
    bySecret: (secret: string) =>
      Effect.sync(() => {
        state.asked.push("source")
        return secret === "right" ? Option.fromNullishOr(state.source) : Option.none()
      }),
    forIntake: (id: number) => Effect.sync(() => Option.fromNullishOr(id === state.source?.id ? state.source : null)),
  } as unknown as Sources["Service"]
  const layer = Intake.layer.pipe(
    Layer.provide([
      Layer.succeed(Sources, sources),
      Layer.succeed(RefusedSignatures, { count: (id, reason) => void state.refused.push(`${id} ${reason}`) }),
      Layer.succeed(SnsService, {
        certificate: (address, from) => state.sns.certificate(address, from),
        confirm: (address) => state.sns.confirm(address),
      }),
      Layer.succeed(ProofProviders, {
        check: (token) =>
          Effect.suspend(() => {
            state.tokens.push(token)
            return state.answer
          }),
      }),
      Layer.succeed(LimitedRequests, { count: (id) => void state.limited.push(id) }),
      Layer.succeed(RateLimiter, {
        key: async () => Result.succeed(null),
        intake: (ip, id) =>
          runResult(
            Effect.sync(() => {
              state.asked.push([ip, id].filter((each) => each !== null).join(" to "))
              return ip !== null && (!state.clientAllowed || id === null)
                ? { ...allowance(state.clientAllowed), subject: "client" }
                : { ...allowance(state.sourceAllowed), subject: "source" }
            }),
            Context.empty(),
          ),
      }),
      Layer.succeed(EventLog, {
        append: (request) =>
          runResult(
            Effect.suspend((): Effect.Effect<ReadonlyArray<Receipt>, SourceChanged | StoreUnavailable> => {
              const failure = state.onAppend()
              if (failure !== undefined) return Effect.fail(failure)
              if (request.sourceVersion !== state.source?.version) {
                return Effect.fail(new SourceChanged({ sourceId: request.sourceId }))
              }
              state.appended.push(request)
              return Effect.succeed(
                request.events.map((event, index): Receipt => ({ id: index + 1, repeatOf: null, empty: event.empty })),
              )
            }),
            Context.empty(),
          ),
      }),
    ]),
  )
  return { state, layer }
}

export const text = (value: string) => new TextEncoder().encode(value)

export const request = (source: IntakeSource, change: Partial<IntakeRequest> = {}): IntakeRequest => ({
  source,
  secret: "right",
  body: text('{"a":1}'),
  undecodable: null,
  query: "",
  baseUrl: "https://data.example",
  sender: {
    contentType: "application/json",
    ip: "192.0.2.7",
    referer: null,
    origin: null,
    userAgent: "curl",
    acceptLanguage: null,
  },
  headers: {},
  deadline: Number.POSITIVE_INFINITY,
  context: Context.empty(),
  ...change,
})

export const admit = (intake: Intake["Service"], secret: string, ip: string | null) =>
  fromResult(() => intake.admit(secret, ip, { deadline: Number.POSITIVE_INFINITY, context: Context.empty() }))

export const receive = (intake: Intake["Service"], of: IntakeRequest) => fromResult(() => intake.receive(of))
