/** Bounds the memory of the requests that wait to be written, or are being written: what there is no room for is refused. */
import type { AcceptRequest } from "@data-cabinet/core/event/EventLog"
import { type MemoryShares, memoryFull, SMALL_BYTES } from "@data-cabinet/core/limit/MemoryBudget"
import { Exit } from "effect"
import type { Pending } from "./PendingRequests.ts"

/** Answers how to withdraw a request; then whether it was withdrawn before it was written. */
type Wait = (request: AcceptRequest, answer: Pending["answer"]) => () => boolean

const refused = () => true

/** `enqueue` answers how to take the request out of the queue again, and then whether it was still in there. */
export const withinMemory =
  (memory: MemoryShares, enqueue: (waiting: Pending) => () => boolean): Wait =>
  (request, answer) => {
    const { memory: bytes = 0, sourceId, original } = request
    if (bytes <= SMALL_BYTES) return enqueue({ request, bytes, answer })
    const release = memory.hold(sourceId, original?.ip ?? null, bytes)
    if (release === undefined) {
      answer(Exit.fail(memoryFull()))
      return refused
    }
    // What is being written holds its memory until that is over, also where nobody waits for the answer any more.
    const remove = enqueue({
      request,
      bytes,
      answer: (receipts) => {
        release()
        answer(receipts)
      },
    })
    return () => {
      const wasWaiting = remove()
      if (wasWaiting) release()
      return wasWaiting
    }
  }
