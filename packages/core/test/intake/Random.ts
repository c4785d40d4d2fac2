/** A repeatable source of choices: a property names only its seed, which reproduces a failure. */
import { Schema } from "effect"

export const Seed = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0x7fffffff }))

export class Random {
  private state: number
  constructor(seed: number) {
    this.state = seed | 0
  }

  /** From 0 up to, but not including, `end`. */
  below(end: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end
  }

  pick<A>(choices: ReadonlyArray<A>): A {
    return choices[this.below(choices.length)]!
  }

  list<A>(most: number, make: () => A): Array<A> {
    return Array.from({ length: this.below(most + 1) }, make)
  }
}
