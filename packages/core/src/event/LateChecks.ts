/** Checks stored events against the current recipe and secret of their sources. */
import { Effect, Option } from "effect"
import type { DeliverySignal } from "../delivery/DeliverySignal.ts"
import { intakePath } from "../source/SourceShape.ts"
import type { IntakeSource } from "../source/Source.ts"
import type { Sources } from "../source/Sources.ts"
import {
  checkLate,
  checkLateBySns,
  isCheckableLate,
  type KeptRequest,
  type LateCheck,
} from "../verification/LateCheck.ts"
import type { LateVerdict } from "../verification/LateVerdict.ts"
import type { LateEvent, LateFinding, LateVerificationStore } from "./LateVerificationStore.ts"
import { signsAddress } from "../verification/Recipes.ts"
import { type IntakeVerification, recipeOf } from "../verification/Verification.ts"
import { SECRETS_UNREADABLE } from "../verification/VerifyRequest.ts"
import type { SnsService } from "../verification/VerifySns.ts"

/** The most bodies held at a time. */
const CHUNK = 100

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

interface Checks extends LateOptions {
  /** Records and delivers nothing. */
  readonly dryRun: boolean
}

interface Ports {
  readonly store: LateVerificationStore["Service"]
  readonly sources: Sources["Service"]
  readonly signal: DeliverySignal["Service"]
  readonly sns: SnsService["Service"]
}

/** Checks events by the current settings of their sources, in chunks; records and delivers those that pass. */
export const lateChecks = ({ store, sources, signal, sns }: Ports) => {
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

/** Why the events of a source cannot be checked. */
export type Obstacle = "source_off" | "no_recipe" | "plain_secret"

/** The same in words. */
export const OBSTACLE_WORDS: Readonly<Record<Obstacle, string>> = {
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
