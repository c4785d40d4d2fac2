/** The polls of a cabinet, with promises. */
import type { NewPoll, Poll, PollRun } from "@data-cabinet/core/pull/Poll"
import { PollBook } from "@data-cabinet/core/pull/PollBook"
import { Polls } from "@data-cabinet/core/pull/Polls"
import type { Run } from "./RunEffect.ts"

export type { NewPoll, Poll, PollRun }

export interface PollsFace {
  /** The URL is checked first; values of headers are kept secret. */
  readonly create: (poll: NewPoll) => Promise<Poll>
  readonly list: () => Promise<ReadonlyArray<Poll>>
  /** Runs it now, and resolves when what is new is accepted. A run that failed resolves too, with the reason. */
  readonly run: (id: number) => Promise<PollRun>
  /** Newest first. */
  readonly log: (id: number, limit?: number) => Promise<ReadonlyArray<PollRun>>
  readonly pause: (id: number) => Promise<Poll>
  readonly resume: (id: number) => Promise<Poll>
  readonly remove: (id: number) => Promise<void>
}

export const pollsFace = (run: Run): PollsFace => ({
  create: (poll) => run(Polls.use((polls) => polls.add(poll))),
  list: () => run(PollBook.use((book) => book.list)),
  run: (id) => run(Polls.use((polls) => polls.run(id))),
  log: (id, limit = 100) => run(PollBook.use((book) => book.log(id, limit))),
  pause: (id) => run(PollBook.use((book) => book.pause(id))),
  resume: (id) => run(PollBook.use((book) => book.resume(id))),
  remove: (id) => run(PollBook.use((book) => book.remove(id))),
})
