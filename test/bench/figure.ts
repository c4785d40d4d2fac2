/**
 * A figure: some work done by several contestants in alternating rounds, and the goals derived from it. A goal is a ratio
 * within one round, so that disturbances of the machine affect both sides alike; the median over the rounds and the spread
 * are reported.
 */
import type { Cluster } from "./cluster.ts"

/** The size of everything: `quick` shows that the bench works, `long` is for effects that only time and size show. */
export type Scale = "quick" | "default" | "long"

export interface Bench {
  readonly cluster: Cluster
  readonly scale: Scale
  readonly rounds: number
  /** Seconds that a contestant is run in before the first round, before each round, and measured. */
  readonly runIn: number
  readonly warmUp: number
  readonly seconds: number
  /** One of three, by the scale. */
  readonly sized: <A>(quick: A, usual: A, long?: A) => A
  readonly say: (line: string) => void
}

export interface Goal {
  readonly work: string
  /** As shown in the table, for example `≥ 3 × plain`. */
  readonly goal: string
  readonly atLeast?: number
  readonly atMost?: number
  /** A ratio a round. */
  readonly ratios: ReadonlyArray<number>
  /** The same ratio by CPU time; empty where it is meaningless. */
  readonly cpuRatios: ReadonlyArray<number>
}

/** What a contestant did: a rate or a time, medians over the rounds. */
export interface Standing {
  readonly contestant: string
  readonly value: number
  readonly unit: string
  /** Microseconds of CPU a unit of work, server and database. */
  readonly cpu?: { readonly server: number; readonly database: number }
}

export interface Outcome {
  readonly goals: ReadonlyArray<Goal>
  readonly standings: ReadonlyArray<Standing>
}

export interface Figure {
  /** `npm run bench -- <name>`. */
  readonly name: string
  readonly title: string
  /** What each side does for one unit of work. */
  readonly caption: string
  /** Left out of a run that does not name it, unless it is long. */
  readonly longOnly?: boolean
  readonly measure: (bench: Bench) => Promise<Outcome>
}

export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Within 5 % counts as met. */
export const isMet = ({ atLeast, atMost, ratios }: Goal): boolean => {
  const ratio = median(ratios)
  return (atLeast === undefined || ratio >= atLeast * 0.95) && (atMost === undefined || ratio <= atMost * 1.05)
}

/** Ratios round by round. A round that was over before one side had done anything gives none. */
export const divided = (over: ReadonlyArray<number>, under: ReadonlyArray<number>): ReadonlyArray<number> =>
  over.map((value, round) => value / under[round]!).filter(Number.isFinite)
