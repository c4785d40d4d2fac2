/** One poll in memory, with its server's responses and what is stored. */
import type { Poll, PollRun } from "@data-cabinet/core/poll/Poll"
import { PollFetch, type PollRequest, type PollResponse } from "@data-cabinet/core/poll/PollFetch"
import { type ClaimedPoll, PollStore, type RunResult } from "@data-cabinet/core/poll/PollStore"
import { RunPoll } from "@data-cabinet/core/poll/RunPoll"
import { Effect, Layer, Option } from "effect"
import { ImportsInMemory } from "../file/ImportsInMemory.ts"

export const POLL: Poll = {
  id: 1,
  sourceId: 1,
  url: "https://example.com/items?token=secret",
  everySeconds: 60,
  format: null,
  pointer: "",
  keyField: "id",
  headerNames: ["Authorization"],
  createdAt: "2026-11-25T09:00:00Z",
  paused: false,
  failures: 0,
  dueAt: "2026-11-25T09:01:00Z",
  firstAt: "2026-11-25T09:00:00Z",
}

const HEADERS = [["Authorization", "Bearer secret"]] as const

export const responseOf = (body: string | Uint8Array | null, some: Partial<PollResponse> = {}): PollResponse => ({
  status: body === null ? 304 : 200,
  peer: "192.0.2.1",
  failure: null,
  contentType: null,
  retryAfter: null,
  etag: null,
  lastModified: null,
  body: body === null ? null : Buffer.from(body as string),
  ...some,
})

export class PollsInMemory extends ImportsInMemory {
  claimed: ClaimedPoll = {
    id: 1,
    lease: "1",
    sourceId: 1,
    url: POLL.url,
    everySeconds: 60,
    format: null,
    pointer: "",
    keyField: "id",
    headers: HEADERS,
    etag: null,
    lastModified: null,
    failures: 0,
    first: true,
  }
  response: Effect.Effect<PollResponse> = Effect.succeed(responseOf("[]"))
  readonly requests: Array<PollRequest> = []
  readonly results: Array<RunResult> = []
  readonly seen = new Set<string>()
  /** The poll was removed, or claimed by another process. */
  isGone = false

  #settle(result: RunResult): Option.Option<PollRun> {
    if (this.isGone) return Option.none()
    this.results.push(result)
    const { fresh, outcome, etag, lastModified } = result
    if (fresh !== null) {
      for (const { key } of this.imports[fresh.held.id - 1]!.rows) this.seen.add(Buffer.from(key!).toString("hex"))
      this.seal(fresh.held, { staged: fresh.rows, refused: 0, doubts: [] })
    }
    const isFailed = outcome === "failed"
    const failures = isFailed ? this.claimed.failures + 1 : 0
    this.claimed = { ...this.claimed, etag, lastModified, failures, first: isFailed && this.claimed.first }
    const { fresh: _, ...logged } = result
    const about = { id: this.results.length, pollId: 1, at: "2026-11-25T09:00:00Z", nextAt: null }
    return Option.some({ ...logged, ...about, fresh: fresh?.rows ?? 0, importId: fresh?.held.id ?? null })
  }

  readonly unseen: PollStore["Service"]["unseen"] = (_, keys) =>
    Effect.sync(() => keys.map((key) => !this.seen.has(Buffer.from(key).toString("hex"))))

  readonly fetch: PollFetch["Service"]["fetch"] = (request) =>
    Effect.suspend(() => {
      this.requests.push(request)
      return this.response
    })

  /** The store; `own` replaces calls that the owner makes. */
  polls(own: Partial<PollStore["Service"]> = {}): PollStore["Service"] {
    return PollStore.of({
      add: () => Effect.succeedNone,
      list: () => Effect.succeed([POLL]),
      change: () => Effect.succeedNone,
      headers: () => Effect.succeedNone,
      pause: () => Effect.succeedNone,
      resume: () => Effect.succeedNone,
      remove: () => Effect.succeed({ existed: false }),
      log: () => Effect.succeedNone,
      claim: () => Effect.sync(() => Option.some(this.claimed)),
      renew: () => Effect.succeed(true),
      unseen: this.unseen,
      settle: (_, result) => Effect.sync(() => this.#settle(result)),
      nextDue: Effect.succeedNone as never,
      ...own,
    })
  }

  running(own: Partial<PollStore["Service"]> = {}) {
    return RunPoll.layer.pipe(
      Layer.provideMerge(
        Layer.mergeAll(
          this.layer,
          Layer.succeed(PollStore, this.polls(own)),
          Layer.succeed(PollFetch, { fetch: this.fetch }),
        ),
      ),
    )
  }
}
