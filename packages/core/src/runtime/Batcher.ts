/**
 * Work of one kind that comes one by one and is done in one go. What a request takes is long code that runs once, so each of
 * its steps finds the processor's caches full of the others: parsing a body among the rest of a request was measured to take
 * ten times what it takes after another body. Of requests that come together each step is therefore taken by all of them
 * before the next one.
 */

/** Answers how one more joins; `begin` is told once how to do all that came, such as `setImmediate` or `queueMicrotask`. */
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

/** The work where each that came knows what is to be done. */
export const runAll = (all: ReadonlyArray<() => void>): void => {
  for (const one of all) one()
}
