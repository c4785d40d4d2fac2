/**
 * Verifies stored events whose sender could not be verified on arrival, because the secret was missing or wrong, or
 * verification was not set up. The signed bytes are those of the original request, while it is kept. Only a successful
 * check changes an event: a signature that does not match the current secret proves nothing about the earlier one.
 *
 * Decision: docs/decisions/0071-verified-late.md
 */
import { Context, Effect, Layer, Option } from "effect"
import { DeliverySignal } from "../delivery/DeliverySignal.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { noSuchEvent } from "../event/EventDetail.ts"
import { originalPage } from "../event/OriginalSlice.ts"
import type { CursorWalk } from "../pagination/Cursor.ts"
import { CursorKeys } from "../pagination/CursorKey.ts"
import { intakePath } from "../source/SourceShape.ts"
import type { IntakeSource } from "../source/Source.ts"
import { Sources } from "../source/Sources.ts"
import {
  checkLate,
  checkLateBySns,
  isCheckableLate,
  type KeptRequest,
  type LateCheck,
  type UncheckedReason,
} from "./LateCheck.ts"
import { LateVerificationError } from "./LateVerificationError.ts"
import { type LateEvent, type LateFinding, LateVerificationStore } from "./LateVerificationStore.ts"
import { signsAddress } from "./Recipes.ts"
import { SnsService } from "./SnsService.ts"
import { type IntakeVerification, recipeOf } from "./Verification.ts"
import { SECRETS_UNREADABLE } from "./VerifyRequest.ts"
import type { RefusalReason } from "./VerifySender.ts"

/** The maximum number of events in one call. */
export const MAX_VERIFY_EVENTS = 1_000

/** The most bodies held at a time. */
const CHUNK = 100

/**
 * `verified`: newly proven to come from its sender; `was_verified`: known before; `refused`: its signature does not
 * match; `unchecked`: it cannot be checked.
 */
export const LATE_OUTCOMES = ["verified", "was_verified", "refused", "unchecked"] as const
/** The outcome of checking one event. */
export type LateOutcome = (typeof LATE_OUTCOMES)[number]

/** The outcome for one event, and its reason. */
export interface LateVerdict {
  readonly id: number
  readonly outcome: LateOutcome
  /** Why it is not verified; null if it is. */
  readonly reason: RefusalReason | UncheckedReason | null
}

/** The outcomes for several events. */
export interface LateVerdicts {
  readonly verdicts: ReadonlyArray<LateVerdict>
  /** The number of deliveries created. */
  readonly deliveries: number
}

/** The outcomes for a page of a source's events. */
export interface LatePage extends LateVerdicts {
  /** The number of events examined; events that were verified before have no verdict here. */
  readonly seen: number
  /** Where the next page begins; null on the last. */
  readonly nextCursor: string | null
}

/** How to verify, and whether to deliver. */
export interface LateOptions {
  /** Whether newly verified events are delivered to the current addresses, each request once. */
  readonly deliver: boolean
  /**
   * The address under which the cabinet is known, without a trailing slash. The text that some senders sign begins with
   * it.
   */
  readonly baseUrl: string
}

/** Which events of a source to verify. */
export interface LateQuery extends LateOptions {
  readonly sourceId: number
  /** The most events that a page examines; default: 1,000. */
  readonly limit?: number
  readonly cursor?: string | undefined
}

interface Checks extends LateOptions {
  /** Records and delivers nothing. */
  readonly dryRun: boolean
}

type Fails = LateVerificationError | StoreUnavailable

export class LateVerification extends Context.Service<
  LateVerification,
  {
    /** Verdicts in the order of the events. A request's verdict holds for all of its events. */
    readonly events: (events: ReadonlyArray<number>, options: LateOptions) => Effect.Effect<LateVerdicts, Fails>
    /** One page of a source's events whose original requests are still stored, oldest first. */
    readonly source: (query: LateQuery) => Effect.Effect<LatePage, Fails>
    /** The verdicts of such a page; records and delivers nothing. */
    readonly trySource: (query: LateQuery) => Effect.Effect<LatePage, Fails>
  }
>()("@data-cabinet/core/verification/LateVerification") {
  static readonly layer = Layer.effect(
    LateVerification,
    Effect.gen(function* () {
      const store = yield* LateVerificationStore
      const sources = yield* Sources
      const signal = yield* DeliverySignal
      const keys = yield* CursorKeys

      const { checkerOf, all } = checking({ store, sources, signal, sns: yield* SnsService })
      const page = Effect.fnUntraced(function* (
        { sourceId, deliver, baseUrl, limit = MAX_VERIFY_EVENTS, cursor }: LateQuery,
        dryRun: boolean,
      ) {
        const existing = yield* sources.get(sourceId)
        if (Option.isNone(existing)) {
          const message = `Source ${sourceId} does not exist.`
          return yield* new LateVerificationError({ code: "no_such_source", message })
        }
        const { obstacle } = yield* checkerOf(sourceId, baseUrl)
        if (obstacle !== null) {
          const message = `The events of source ${sourceId} cannot be checked: ${OBSTACLE_WORDS[obstacle]}.`
          return yield* new LateVerificationError({ code: "not_checkable", message })
        }
        const walk: CursorWalk = { kind: "verification", scope: [sourceId, deliver], key: yield* keys.key }
        return yield* originalPage(
          { walk, cursor },
          BAD_CURSOR,
          (after) => store.slice({ sourceId, after, limit, undelivered: deliver }),
          (events) => all(events, { deliver, baseUrl, dryRun }),
        )
      })

      return LateVerification.of({
        events: Effect.fnUntraced(function* (given, options) {
          if (given.length > MAX_VERIFY_EVENTS) {
            const message = `At most ${MAX_VERIFY_EVENTS} events at a time; there were ${given.length}.`
            return yield* new LateVerificationError({ code: "too_many_events", message })
          }
          const ids = [...new Set(given)]
          const missing = yield* store.missing(ids)
          if (missing === null) return yield* all(ids, { ...options, dryRun: false })
          return yield* new LateVerificationError({ code: "no_such_event", message: noSuchEvent(missing) })
        }),
        source: (query) => page(query, false),
        trySource: (query) => page(query, true),
      })
    }),
  )
}

const BAD_CURSOR = Effect.suspend(() => {
  const message = "cursor must be a next_cursor of this source's verification, with the same deliver."
  return new LateVerificationError({ code: "bad_cursor", message })
})

interface Ports {
  readonly store: LateVerificationStore["Service"]
  readonly sources: Sources["Service"]
  readonly signal: DeliverySignal["Service"]
  readonly sns: SnsService["Service"]
}

/** Checks events by the current settings of their sources, in chunks. */
const checking = ({ store, sources, signal, sns }: Ports) => {
  /** The URL that some senders sign; for a source deleted meanwhile, a URL that no sender has signed. */
  const addressOf = (sourceId: number, baseUrl: string) =>
    sources.reveal(sourceId).pipe(
      Effect.map((source) => `${baseUrl}${intakePath(source)}`),
      Effect.catchTag("SourceError", () => Effect.succeed("")),
    )

  /** How requests of a source are checked; the reason if they cannot be. */
  const checkerOf = Effect.fnUntraced(function* (sourceId: number, baseUrl: string) {
    const source = yield* sources.forIntake(sourceId)
    const obstacle = obstacleOf(source)
    if (Option.isNone(source) || obstacle !== null) return { obstacle: obstacle ?? "source_off", check: null } as const
    const verification = source.value.verification!
    const { secrets } = verification
    if (secrets === null) return yield* Effect.fail(SECRETS_UNREADABLE)
    const address = signsAddress(recipeOf(verification)) ? yield* addressOf(sourceId, baseUrl) : ""
    return {
      obstacle: null,
      check: (request: KeptRequest) =>
        verification.recipe === "sns"
          ? checkLateBySns(request, secrets, sns)
          : Effect.succeed(checkLate(verification, request, { secrets, address })),
    } as const
  })

  const chunk = Effect.fnUntraced(function* (ids: ReadonlyArray<number>, { deliver, baseUrl, dryRun }: Checks) {
    const events = yield* store.find(ids)
    const checks = new Map<number, LateCheck>()
    const passed: Array<LateEvent> = []
    const verdicts = new Map<number, LateVerdict>()
    for (const [sourceId, its] of Map.groupBy(events, (event) => event.sourceId)) {
      const { obstacle, check } = yield* checkerOf(sourceId, baseUrl)
      for (const event of its) {
        const { id, requestId, request } = event
        if (event.verified === true) {
          verdicts.set(id, { id, outcome: "was_verified", reason: null })
          if (event.undelivered) passed.push(event)
          continue
        }
        if (requestId === null || request === null || check === null) {
          verdicts.set(id, { id, outcome: "unchecked", reason: request === null ? "no_original" : obstacle! })
          continue
        }
        const found = checks.get(requestId) ?? (yield* check(request))
        checks.set(requestId, found)
        verdicts.set(id, lateVerdict(id, found))
        if ("refusal" in found && found.refusal === null) passed.push(event)
      }
    }
    let deliveries = 0
    if (dryRun) return { verdicts: ids.flatMap((id) => verdicts.get(id) ?? []), deliveries }
    const findings = findingsIn(checks)
    if (findings.length > 0) yield* store.record(findings)
    if (deliver) {
      for (const [sourceId, its] of Map.groupBy(passed, (event) => event.sourceId)) {
        const requests = [...new Set(its.map(({ requestId }) => requestId!))]
        deliveries += yield* store.deliver(sourceId, requests)
      }
    }
    return { verdicts: ids.flatMap((id) => verdicts.get(id) ?? []), deliveries }
  })

  const all = Effect.fnUntraced(function* (ids: ReadonlyArray<number>, options: Checks) {
    const verdicts: Array<LateVerdict> = []
    let deliveries = 0
    for (let at = 0; at < ids.length; at += CHUNK) {
      const done = yield* chunk(ids.slice(at, at + CHUNK), options)
      for (const verdict of done.verdicts) verdicts.push(verdict)
      deliveries += done.deliveries
    }
    if (deliveries > 0) yield* signal.wake
    return { verdicts, deliveries }
  })

  return { checkerOf, all }
}

type Obstacle = "source_off" | "no_recipe" | "plain_secret"

const OBSTACLE_WORDS: Readonly<Record<Obstacle, string>> = {
  source_off: "it is switched off",
  no_recipe: "it has no recipe to verify by",
  plain_secret: "its sender sends the secret itself, which is never kept",
}

const obstacleOf = (source: Option.Option<IntakeSource>): Obstacle | null => {
  if (Option.isNone(source)) return "source_off"
  const { verification }: { readonly verification: IntakeVerification | null } = source.value
  if (verification === null) return "no_recipe"
  return isCheckableLate(verification) ? null : "plain_secret"
}

const lateVerdict = (id: number, check: LateCheck): LateVerdict => {
  if ("unchecked" in check) return { id, outcome: "unchecked", reason: check.unchecked }
  return { id, outcome: check.refusal === null ? "verified" : "refused", reason: check.refusal }
}

const findingsIn = (checks: ReadonlyMap<number, LateCheck>): ReadonlyArray<LateFinding> =>
  [...checks].flatMap(([requestId, check]) => ("refusal" in check ? [{ requestId, ...check }] : []))
