/**
 * `cabinet listen SOURCE --forward-to URL`: posts the events of a source to a program on a developer's machine as deliveries would
 * come, which no server could reach. It only reads from the cabinet.
 */
import { randomBytes } from "node:crypto"
import { AttemptDelivery } from "@data-cabinet/core/delivery/AttemptDelivery"
import { parseAddressUrl } from "@data-cabinet/core/delivery/AddressUrl"
import type { Outcome } from "@data-cabinet/core/delivery/Attempt"
import { type ForwardedEvent, forwardedEvent } from "@data-cabinet/core/event/ForwardedEvent"
import { EventContext } from "@data-cabinet/core/event/EventContext"
import { noSuchEvent } from "@data-cabinet/core/error/NoSuchEvent"
import { Feed, type FeedResult } from "@data-cabinet/core/feed/Feed"
import { FollowFeed, USUAL_WAIT_MILLIS } from "@data-cabinet/core/feed/FollowFeed"
import { Clock, Effect, Option, Result, Schedule } from "effect"
import { Command, Flag } from "effect/cli"
import { forwardLayer } from "../compose/ForwardLayer.ts"
import { printLine, printValue, report, writeJson } from "../output/Report.ts"
import { type Style, styleFor } from "../output/Style.ts"
import { staysUntilSignal } from "../process/Signals.ts"
import { CommandError } from "../error/CommandError.ts"
import { EXAMPLES } from "./Examples.ts"
import { sourceArgument, sourceNamed } from "./Named.ts"
import { format, withCabinet } from "./Root.ts"
import { readSecretLine, secretFile } from "./SecretInput.ts"
import { sinceOf } from "./Times.ts"

/** How often it retries while the cabinet is unavailable. */
const RETRY_INTERVAL = "2 seconds"

/** The delay before the program is tried again: from the first to the longest, doubled each time. */
const FIRST_DELAY_MILLIS = 500
const LONGEST_DELAY_MILLIS = 5_000

/** Statuses of a proxy whose program is down. */
const AWAY_STATUSES: ReadonlySet<number> = new Set([502, 503, 504])

const isUnresponsive = ({ status }: Outcome): boolean => status === null || AWAY_STATUSES.has(status)

const newSecret = (): string => `whsec_${randomBytes(32).toString("base64")}`

const refuse = (message: string) => new CommandError({ code: "refused", message })

interface Target {
  readonly url: string
  readonly secret: string
}

/** One request and its outcome, or an event without a request. */
interface Line {
  readonly at: string
  readonly event: ForwardedEvent
  readonly outcome: Outcome | null
  /** Milliseconds until the next attempt; null if it is the last. */
  readonly retryMillis: number | null
}

const lineJson = ({ at, event, outcome, retryMillis }: Line) => ({
  at,
  event_id: event.id,
  sent: outcome !== null,
  method: outcome === null ? null : "POST",
  status: outcome?.status ?? null,
  failure: outcome === null ? event.notSent : outcome.failure,
  duration_ms: outcome?.durationMs ?? null,
  retry_in_ms: retryMillis,
})

const lineText = ({ at, event, outcome, retryMillis }: Line, style: Style): string => {
  const head = `${style.dim(at)}  event ${event.id}`
  if (outcome === null) return `${head}  not sent: ${event.notSent}`
  const { status, durationMs, failure } = outcome
  if (retryMillis !== null) {
    const why = failure ?? String(status)
    return `${head}  POST  ${style.yellow(`${why}: retrying until the program is there, the next events wait`)}`
  }
  const isGood = status !== null && status >= 200 && status <= 299
  const shown = status === null ? (failure ?? "") : String(status)
  return `${head}  POST  ${(isGood ? style.green : style.red)(shown)}  ${durationMs} ms`
}

const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis).toISOString())

const attempt = (target: Target, { delivery }: ForwardedEvent, number: number) =>
  AttemptDelivery.use(({ attempt: send }) =>
    send({
      ...delivery,
      recipient: { addressId: 0, url: target.url, secrets: [target.secret] },
      attempt: number,
      failures: number - 1,
    }),
  ).pipe(Effect.map(({ outcome }) => outcome))

type Tell = (line: Line) => Effect.Effect<void>

/** Posts an event until the program is up and responds, with any status. */
const forward = (target: Target, event: ForwardedEvent, tell: Tell) =>
  Effect.gen(function* () {
    for (let number = 1, delay = FIRST_DELAY_MILLIS; ; number++, delay = Math.min(delay * 2, LONGEST_DELAY_MILLIS)) {
      const outcome = yield* attempt(target, event, number)
      const away = isUnresponsive(outcome)
      // The first failed attempt is reported, the following ones are not.
      if (!away || number === 1) {
        yield* tell({ at: yield* now, event, outcome, retryMillis: away ? delay : null })
      }
      if (!away) return
      yield* Effect.sleep(delay)
    }
  })

type Pairs = ReadonlyArray<readonly [name: string, value: string]>

const nextPage = (params: Pairs) =>
  FollowFeed.use((followed) => followed.next(params, { waitMillis: USUAL_WAIT_MILLIS })).pipe(
    Effect.map(({ page }) => page),
    Effect.tapErrorTag("StoreUnavailable", ({ message }) =>
      Effect.logWarning(`${message} Waiting until it is available again.`),
    ),
    // Its cursor stays valid while the cabinet is restarted.
    Effect.retry({ while: ({ _tag }) => _tag === "StoreUnavailable", schedule: Schedule.spaced(RETRY_INTERVAL) }),
  )

interface Following {
  readonly sourceId: number
  readonly target: Target
  /** RFC 3339; null: only new events. */
  readonly since: string | null
  readonly tell: Tell
  /** Runs once the start position is known. */
  readonly ready: Effect.Effect<void>
}

/** Posts the events of a source in the feed's order, from a time or from now on, for ever. */
const follow = ({ sourceId, target, since, tell, ready }: Following) =>
  Effect.gen(function* () {
    const filter: Pairs = [["source_id", String(sourceId)]]
    const from = since === null ? null : Date.parse(since)
    let cursor = yield* Feed.use((feed) => feed.start(filter, since === null ? "now" : { time: since }))
    yield* ready
    while (true) {
      const page: FeedResult = yield* nextPage([...filter, ["cursor", cursor]])
      for (const event of page.items.texts().map(forwardedEvent)) {
        // The order is that of acceptance, so an event that was received earlier may follow.
        if (from !== null && Date.parse(event.receivedAt) < from) continue
        if (event.notSent === null) yield* forward(target, event, tell)
        else yield* tell({ at: yield* now, event, outcome: null, retryMillis: null })
      }
      cursor = page.nextCursor
    }
  })

/** The event as the feed has it; one of another source is refused. */
const eventOf = (id: number, sourceId: number) =>
  Effect.gen(function* () {
    const found = yield* EventContext.use((context) => context.find(id))
    if (Option.isNone(found)) return yield* refuse(noSuchEvent(id))
    const event = forwardedEvent(found.value.event)
    if (event.sourceId !== sourceId) return yield* refuse(`Event ${id} is not of source ${sourceId}.`)
    return event
  })

const targetOf = (given: string, secret: Option.Option<string>) =>
  Effect.gen(function* () {
    const url = parseAddressUrl(given)
    if (Result.isFailure(url)) {
      return yield* new CommandError({ code: "usage", message: `--forward-to: ${url.failure.message}` })
    }
    const chosen = Option.isNone(secret) ? newSecret() : yield* readSecretLine(secret.value, "The signing secret")
    return { url: url.success.href, secret: chosen } satisfies Target
  })

const RESENT_MOST = 100

export const listenCommand = Command.make(
  "listen",
  {
    source: sourceArgument(),
    to: Flag.String("forward-to").pipe(
      Flag.withMetavar("URL"),
      Flag.withDescription("URL to post to, such as http://localhost:3000/hook"),
    ),
    since: Flag.String("since").pipe(
      Flag.withMetavar("TIME"),
      Flag.withDescription(
        "Begin with events received since a time such as 2026-11-21T09:30:00Z, or in the last 30m, 12h or 7d; default: now",
      ),
      Flag.filterMap(
        (text) => Option.fromNullishOr(sinceOf(text)),
        (text) =>
          `--since is ${JSON.stringify(text)}: it must be a time such as 2026-11-21T09:30:00Z, or 30m, 12h or 7d`,
      ),
      Flag.optional,
    ),
    resend: Flag.Int("resend").pipe(
      Flag.withMetavar("EVENT"),
      Flag.withDescription("Post this event once and exit; repeatable"),
      Flag.between(0, RESENT_MOST),
    ),
    secretFile: secretFile("secret-file", "Sign with the secret in this file; default: a new one"),
  },
  (input) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const target = yield* targetOf(input.to, input.secretFile)
        const sourceId = yield* sourceNamed(input.source)
        const shown = yield* format
        const style = styleFor(process.stdout)
        const isResent = input.resend.length > 0
        if (isResent && Option.isSome(input.since)) {
          const message = "Either --since or --resend, not both."
          return yield* new CommandError({ code: "usage", message })
        }
        const head = { source_id: sourceId, forward_to: target.url, secret: target.secret }
        if (isResent) {
          const events = yield* Effect.forEach(input.resend, (id) => eventOf(id, sourceId))
          const lines: Array<Line> = []
          for (const event of events) {
            lines.push({ at: yield* now, event, outcome: yield* attempt(target, event, 1), retryMillis: null })
          }
          yield* report(shown, { ...head, posted: lines.map(lineJson) }, () =>
            [`Signing secret: ${target.secret}`, ...lines.map((line) => lineText(line, style))].join("\n"),
          )
          const lost = lines.find(({ outcome }) => outcome?.status === null)
          if (lost === undefined) return
          return yield* refuse(`Event ${lost.event.id} was not received: ${lost.outcome?.failure}.`)
        }
        if (typeof shown === "object") {
          return yield* new CommandError({ code: "usage", message: "--get is for --resend: it goes on for ever." })
        }
        const since = Option.getOrNull(input.since)
        yield* follow({
          sourceId,
          target,
          since,
          tell: (line) => (shown ? printValue(writeJson(lineJson(line))) : printLine(lineText(line, style))),
          ready: printLine(
            shown
              ? writeJson(head)
              : `Forwarding events of source ${sourceId} to ${target.url}, ${since === null ? "from now on" : `since ${since}`}.\nSigning secret: ${target.secret}`,
          ),
        })
      }).pipe(Effect.provide(forwardLayer)),
    ).pipe((run) => (input.resend.length > 0 ? run : Effect.andThen(staysUntilSignal, run))),
).pipe(
  Command.withExamples(EXAMPLES.listen),
  Command.withDescription("Post new events to a program on this machine, signed as deliveries are"),
)
