/** Work that is done in pieces, one piece of one task at a time, while the process does other work in between. */

/** How many tasks run concurrently, because of their memory: a parsed body takes many times that of its bytes. */
const MAX_CONCURRENT = 4

/** Runs one step of a task; returns true after the last one. */
export type Work = () => boolean

/**
 * Schedules tasks round robin: each task runs one step at a time until it reports that it is done, and the event loop runs
 * between two steps. A few tasks are active at once. The others wait in one queue per name, and the queues are served round
 * robin.
 */
export const inTurns = (
  later: (step: () => void) => void,
  atOnce: number = MAX_CONCURRENT,
): ((work: Work, queueName: string) => void) => {
  const active: Array<Work> = []
  const queues = new Map<string, Array<Work>>()
  let next = 0
  const fromQueue = (): Work | undefined => {
    const [first] = queues
    if (first === undefined) return undefined
    const [queueName, queue] = first
    const work = queue.shift()
    queues.delete(queueName)
    if (queue.length > 0) queues.set(queueName, queue)
    return work
  }
  const step = () => {
    const work = active[next]!
    let isDone = true
    try {
      isDone = work()
    } finally {
      // A task that throws is finished; the others continue.
      if (isDone) {
        active.splice(next, 1)
        const waiting = fromQueue()
        if (waiting !== undefined) active.push(waiting)
      } else next++
      if (next >= active.length) next = 0
      if (active.length > 0) later(step)
    }
  }
  return (work, queueName) => {
    if (active.length < atOnce) {
      if (active.push(work) === 1) later(step)
      return
    }
    const queue = queues.get(queueName)
    if (queue === undefined) queues.set(queueName, [work])
    else queue.push(work)
  }
}
