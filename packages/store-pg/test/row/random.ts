/** A repeatable source of choices: the same seed, the same test. */
export const randomFrom = (seed: number) => {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  const below = (n: number) => Math.floor(next() * n)
  return {
    below,
    pick: <A>(from: ReadonlyArray<A>): A => from[below(from.length)] as A,
    chance: (of: number) => next() < of,
  }
}

export type Random = ReturnType<typeof randomFrom>
