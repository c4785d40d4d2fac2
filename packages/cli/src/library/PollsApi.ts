/** The polls of a cabinet, with promises. */
import type { NewPoll, Poll, PollChange, PollRun, PollTrial } from "@data-cabinet/core/poll/Poll"
import { allItems } from "@data-cabinet/core/pagination/IdPages"
import { Polls } from "@data-cabinet/core/poll/Polls"
import type { Run } from "./RunEffect.ts"

export type { NewPoll, Poll, PollChange, PollRun, PollTrial }

/** Sources filled by polling a URL. A call about an unknown poll rejects with `no_such_poll`. */
export interface PollsApi {
  /**
   * Polls a URL from now on. Rejects with `not_public` if its host has an address that is not public. Values of headers stay
   * secret.
   */
  readonly create: (poll: NewPoll) => Promise<Poll>
  /** The polls by id. Without `limit` all of them. */
  readonly list: (query?: {
    /** Only polls with a higher id. */
    readonly after?: number
    readonly limit?: number
  }) => Promise<ReadonlyArray<Poll>>
  /**
   * Changes the given fields; the next run is due at once. If the URL has another origin, the poll's headers are needed
   * again; otherwise it rejects with `headers_needed`. If the URL (apart from its query), the pointer or the key changes, the
   * items of the next run are history.
   */
  readonly change: (id: number, change: PollChange) => Promise<Poll>
  /** Requests the URL once, as the poll would, and keeps nothing. Rejects with `busy` while another poll is tried. */
  readonly tryCreate: (poll: NewPoll) => Promise<PollTrial>
  /** Requests an existing poll's URL once, with or without a change, and keeps neither items nor change. */
  readonly tryChange: (id: number, change?: PollChange) => Promise<PollTrial>
  /** Runs a poll now, and resolves when the new items are accepted. A failed run also resolves, with the reason. */
  readonly run: (id: number) => Promise<PollRun>
  /** Its runs, newest first; at most 100 unless another limit is given. */
  readonly log: (id: number, limit?: number) => Promise<ReadonlyArray<PollRun>>
  /** Stops polling until it is resumed. */
  readonly pause: (id: number) => Promise<Poll>
  /** Resumes polling now. */
  readonly resume: (id: number) => Promise<Poll>
  /** Stops polling for good; its events stay. */
  readonly remove: (id: number) => Promise<void>
}

/** Builds the methods of `cabinet.polls`. */
export const pollsApi = (run: Run): PollsApi => ({
  create: (poll) => run(Polls.use((polls) => polls.add(poll))),
  list: ({ after = 0, limit } = {}) =>
    run(Polls.use(({ list }) => (limit === undefined ? allItems(list, after) : list({ after, limit })))),
  change: (id, change) => run(Polls.use((polls) => polls.change(id, change))),
  tryCreate: (poll) => run(Polls.use((polls) => polls.tryAdd(poll))),
  tryChange: (id, change = {}) => run(Polls.use((polls) => polls.tryChange(id, change))),
  run: (id) => run(Polls.use((polls) => polls.run(id))),
  log: (id, limit = 100) => run(Polls.use((polls) => polls.log(id, limit))),
  pause: (id) => run(Polls.use((polls) => polls.pause(id))),
  resume: (id) => run(Polls.use((polls) => polls.resume(id))),
  remove: (id) => run(Polls.use((polls) => polls.remove(id))),
})
