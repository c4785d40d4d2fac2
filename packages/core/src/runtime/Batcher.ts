/**
 * Collects calls of one kind and runs them together. A request runs long code once, so each of its steps finds the CPU
 * caches full of the other steps. Parsing a body amid the rest of a request was measured to take ten times as long as
 * right after another body. Therefore concurrent requests complete each step together before the next.
 */

/**
 * Returns the function that adds a call. `begin` is called once for the first call of a batch and schedules its run, for
 * example `setImmediate` or `queueMicrotask`.
 */
export const batcher = <A>(
  begin: (all: () => void) => void,
  work: (all: ReadonlyArray<A>) => void,
): ((one: A) => void) => {
  let come: Array<A> = []
  const all = () => {
    const now = come
    come = []
    work(now)
  }
  return (one) => {
    if (come.push(one) === 1) begin(all)
  }
}

/** Runs a batch whose calls are functions. */
export const runAll = (all: ReadonlyArray<() => void>): void => {
  for (const one of all) one()
}
