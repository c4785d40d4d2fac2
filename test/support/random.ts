/** Random data from a seed, so that a failure is reproducible. */

/** An integer from 0 up to, but not including, `below`. */
export type Random = (below: number) => number

/** The generator of a seed (mulberry32). */
export const seeded = (seed: number): Random => {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below)
  }
}

export const randomOf = <A>(random: Random, items: ReadonlyArray<A>): A => items[random(items.length)]!

const TEXTS = [
  "",
  "a",
  "7",
  "007",
  "id",
  "я",
  "👋",
  'q"\\/',
  "\t\n",
  "<b>&amp;",
  "__proto__",
  "constructor",
  "toString",
  "\u2028",
]

const NUMBERS = ["0", "-0", "1.0", "0.10", "12345678901234567890", "-1e400", "1E+2", "9007199254740993", "3.0e-10"]

/**
 * The text of a JSON object without white space. The field `n` makes each one different. Keys occur once, and strings are in
 * their shortest form, so that the text comes back unchanged.
 */
export const randomJsonObject = (random: Random, n: number): string => {
  const string = () => JSON.stringify(Array.from({ length: random(3) }, () => randomOf(random, TEXTS)).join(""))
  const object = (depth: number, first: string): string => {
    const keys = new Set(Array.from({ length: random(5) }, string))
    keys.delete('"n"')
    const members = [...keys].map((key) => `${key}:${value(depth + 1)}`)
    return `{${[first, ...members].filter((member) => member !== "").join()}}`
  }
  const value = (depth: number): string => {
    const kind = random(depth > 4 ? 5 : 7)
    if (kind < 2) return string()
    if (kind === 2) return randomOf(random, NUMBERS)
    if (kind === 3) return `${random(100_000)}.${random(1_000)}`
    if (kind === 4) return randomOf(random, ["null", "true", "false"])
    if (kind === 5) return `[${Array.from({ length: random(4) }, () => value(depth + 1)).join()}]`
    return object(depth, "")
  }
  return object(0, `"n":${n}`)
}
