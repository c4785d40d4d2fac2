/** The screen that verifies the senders of a source's stored events: the expected outcome is counted first. */
import { LATE_OUTCOMES, type LateVerdict } from "@data-cabinet/core/verification/LateVerdict"
import { LateVerification } from "@data-cabinet/core/event/LateVerification"
import { UNCHECKED_REASONS } from "@data-cabinet/core/verification/LateCheck"
import { REFUSAL_REASONS } from "@data-cabinet/core/verification/VerifySender"
import { Sources } from "@data-cabinet/core/source/Sources"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { Clock, Effect, Option } from "effect"
import { fieldOf, fieldsOf, idOf } from "../screen/Act.ts"
import type { ConsoleScreen, FormCall } from "../screen/ConsoleScreen.ts"
import { type LateCount, type LateProgress, lateScreen } from "./LateScreen.ts"

/** After this time a form responds with its progress, and another submission continues. */
const FORM_MILLIS = 8_000

/** Few enough that a form responds soon after its time is over. */
const PAGE_EVENTS = 200

const wholeIn = (text: string): number => (/^\d{1,15}$/.test(text) ? Number(text) : 0)

const REASONS = [...REFUSAL_REASONS, ...UNCHECKED_REASONS]

const countIn = (text: string): ReadonlyArray<LateCount> => {
  const [named = "", reasonNamed = "", events = ""] = text.split(" ")
  const outcome = LATE_OUTCOMES.find((known) => known === named)
  const reason = REASONS.find((known) => known === reasonNamed) ?? null
  return outcome === undefined ? [] : [{ outcome, reason, events: wholeIn(events) }]
}

/** With the verdicts of one page more, in the order of the outcomes. */
const added = (counts: ReadonlyArray<LateCount>, verdicts: ReadonlyArray<LateVerdict>): ReadonlyArray<LateCount> => {
  const all = new Map(counts.map((one) => [`${one.outcome} ${one.reason}`, one]))
  for (const { outcome, reason } of verdicts) {
    const key = `${outcome} ${reason}`
    all.set(key, { outcome, reason, events: (all.get(key)?.events ?? 0) + 1 })
  }
  return [...all.values()].sort((a, b) => LATE_OUTCOMES.indexOf(a.outcome) - LATE_OUTCOMES.indexOf(b.outcome))
}

const begunIn = (call: FormCall): Omit<LateProgress, "is"> => {
  const cursor = fieldOf(call, "cursor")
  return {
    seen: wholeIn(fieldOf(call, "seen")),
    deliveries: wholeIn(fieldOf(call, "deliveries")),
    counts: fieldsOf(call, "found")
      .slice(0, LATE_OUTCOMES.length * REASONS.length)
      .flatMap(countIn),
    next: cursor === "" ? null : cursor,
  }
}

export const lateScreens = Effect.gen(function* () {
  const late = yield* LateVerification
  const sources = yield* Sources

  const found = Effect.fnUntraced(function* (id: number) {
    const source = yield* sources.get(id)
    if (Option.isSome(source)) return source.value
    return yield* Effect.fail<ManageError>({ code: "no_such_source", message: "No source has this id." })
  })

  /** Page by page, for the time that a form may take. */
  const goOn = Effect.fnUntraced(function* (
    is: LateProgress["is"],
    begun: Omit<LateProgress, "is">,
    options: { readonly sourceId: number; readonly deliver: boolean; readonly baseUrl: string },
  ) {
    const until = (yield* Clock.currentTimeMillis) + FORM_MILLIS
    let progress: LateProgress = { is, ...begun }
    do {
      const query = { ...options, limit: PAGE_EVENTS, cursor: progress.next ?? undefined }
      const page = yield* is === "verified" ? late.source(query) : late.trySource(query)
      progress = {
        is,
        seen: progress.seen + page.seen,
        deliveries: progress.deliveries + page.deliveries,
        counts: added(progress.counts, page.verdicts),
        next: page.nextCursor,
      }
    } while (progress.next !== null && (yield* Clock.currentTimeMillis) < until)
    return progress
  })

  const screens: ReadonlyArray<ConsoleScreen> = [
    {
      path: "/console/sources/{id}/late",
      action: "event.verify",
      back: ([id]) => `sources/${id}/late`,
      get: Effect.fnUntraced(function* ({ frame, path: [id] }) {
        const source = yield* found(idOf(id))
        return { screen: lateScreen(frame, { source, deliver: false, progress: null }) }
      }),
      post: {
        action: "event.verify",
        // Verified events are not found again, and each event is delivered once.
        repeat: "allowed",
        respond: Effect.fnUntraced(function* (call) {
          const { frame, path } = call
          const source = yield* found(idOf(path[0]))
          const deliver = fieldOf(call, "deliver") === "yes"
          const is = fieldOf(call, "act") === "verify" ? "verified" : "counted"
          const options = { sourceId: source.id, deliver, baseUrl: frame.baseUrl }
          const progress = yield* goOn(is, begunIn(call), options)
          return { screen: lateScreen(frame, { source, deliver, progress }) }
        }),
      },
    },
  ]
  return screens
})
