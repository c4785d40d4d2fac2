/** The operations of a cabinet's owner on polls. URL and settings are checked before they are saved. */
import { Context, Effect, Layer, Option, Semaphore } from "effect"
import { AddressCheck } from "../delivery/AddressCheck.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { IdQuery } from "../pagination/IdPages.ts"
import { pollChecks } from "./CheckPoll.ts"
import type { NewPoll, Poll, PollChange, PollRun, PollTrial } from "./Poll.ts"
import { type PollError, pollError } from "./PollError.ts"
import { PollFetch } from "./PollFetch.ts"
import { PollStore } from "./PollStore.ts"
import { RunPoll } from "./RunPoll.ts"
import { type TriedPoll, tryPoll } from "./TryPoll.ts"
import { ArchiveReader } from "../file/ReadableFile.ts"

type Returns<A> = Effect.Effect<A, PollError | StoreUnavailable>

export class Polls extends Context.Service<
  Polls,
  {
    readonly add: (poll: NewPoll) => Returns<Poll>
    /** By id; without removed polls and those of deleted sources. */
    readonly list: (query: IdQuery) => Effect.Effect<ReadonlyArray<Poll>, StoreUnavailable>
    readonly get: (id: number) => Returns<Poll>
    /**
     * Changes a poll. Headers stay with their origin: a URL of another one needs them again, or an empty list. If the
     * URL (except its query), the pointer or the key changes, the items of the next run are history.
     */
    readonly change: (id: number, change: PollChange) => Returns<Poll>
    readonly pause: (id: number) => Returns<Poll>
    /** Makes the poll due immediately. */
    readonly resume: (id: number) => Returns<Poll>
    /** Removes the poll for good. Deletes its headers and marks; the log stays for its retention period. */
    readonly remove: (id: number) => Returns<void>
    /** Its runs, newest first. */
    readonly log: (id: number, limit: number) => Returns<ReadonlyArray<PollRun>>
    /** Runs the poll now, in this process, even if it is paused, and waits until the new items are accepted. */
    readonly run: (id: number) => Returns<PollRun>
    /** Requests the URL once, as the poll would after being added, and stores nothing. Tries one poll at a time. */
    readonly tryAdd: (poll: NewPoll) => Returns<PollTrial>
    /** The same for an existing poll, with an optional change that is not saved. */
    readonly tryChange: (id: number, change: PollChange) => Returns<PollTrial>
  }
>()("@data-cabinet/core/poll/Polls") {
  static readonly layer = Layer.effect(
    Polls,
    Effect.gen(function* () {
      const store = yield* PollStore
      const check = yield* AddressCheck
      const { run } = yield* RunPoll
      const { fetch } = yield* PollFetch
      const archives = yield* ArchiveReader
      const trials = yield* Semaphore.make(1)
      const get = (id: number) =>
        existing(
          id,
          Effect.map(store.list({ after: id - 1, limit: 1 }), (all) =>
            Option.fromUndefinedOr(all.find((poll) => poll.id === id)),
          ),
        )
      const { checked, changed } = pollChecks(check, get)
      const changedMeanwhile = Effect.fnUntraced(function* (id: number) {
        yield* get(id)
        return yield* pollError(
          "busy",
          `Poll ${id} was changed by someone else in the meantime: load it again, and repeat the change.`,
        )
      })
      const tried = Effect.fnUntraced(function* (poll: TriedPoll) {
        const trial = yield* trials.withPermitsIfAvailable(1)(tryPoll({ fetch, unseen: store.unseen, archives }, poll))
        if (Option.isSome(trial)) return trial.value
        return yield* pollError("busy", "Another poll is being tried right now; try again when that has ended.")
      })
      return Polls.of({
        add: Effect.fnUntraced(function* (poll) {
          const added = yield* store.add(yield* checked(poll))
          if (Option.isSome(added)) return added.value
          return yield* pollError("no_such_source", `Source ${poll.sourceId} does not exist.`)
        }),
        list: store.list,
        get,
        change: Effect.fnUntraced(function* (id, change) {
          const { was, settings } = yield* changed(id, change)
          const made = yield* store.change(id, was.url, settings)
          return Option.isSome(made) ? made.value : yield* changedMeanwhile(id)
        }),
        pause: (id) => existing(id, store.pause(id)),
        resume: (id) => existing(id, store.resume(id)),
        remove: (id) => Effect.flatMap(store.remove(id), ({ existed }) => (existed ? Effect.void : noSuchPoll(id))),
        log: (id, limit) => existing(id, store.log(id, limit)),
        run: Effect.fnUntraced(function* (id) {
          const claimed = yield* store.claim(id)
          if (Option.isNone(claimed)) {
            yield* existing(id, store.log(id, 1))
            return yield* pollError("busy", `Poll ${id} is running right now, or its source is switched off.`)
          }
          const settled = yield* run(claimed.value)
          if (Option.isNone(settled))
            return yield* pollError("no_such_poll", `Poll ${id} has been removed or changed in the meantime.`)
          return settled.value
        }),
        tryAdd: Effect.fnUntraced(function* (poll) {
          return yield* tried({ ...(yield* checked(poll)), id: null, history: true })
        }),
        tryChange: Effect.fnUntraced(function* (id, change) {
          const { was, settings } = yield* changed(id, change)
          const kept = settings.headers === null ? yield* store.headers(id, was.url) : Option.some(settings.headers)
          if (Option.isNone(kept)) return yield* changedMeanwhile(id)
          const history = was.firstAt === null || settings.first
          return yield* tried({ ...settings, headers: kept.value, id, history })
        }),
      })
    }),
  )
}

const noSuchPoll = (id: number) => Effect.fail(pollError("no_such_poll", `Poll ${id} does not exist.`))

const existing = <A>(id: number, found: Effect.Effect<Option.Option<A>, StoreUnavailable>): Returns<A> =>
  Effect.flatMap(found, (one) => (Option.isSome(one) ? Effect.succeed(one.value) : noSuchPoll(id)))
