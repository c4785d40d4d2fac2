/** Alternating rounds of load: each contestant in each round, who begins moves on by one from round to round. */
import type { Bench, Goal, Standing } from "./figure.ts"
import { divided, median } from "./figure.ts"
import { load, type Measured } from "./load/load.ts"

export interface Entrant {
  readonly name: string
  readonly pid: number
  readonly port: number
  readonly requests: ReadonlyArray<string>
  /** Units of work in a request; 1 unless it is a batch. */
  readonly units?: number
}

export interface LoadKind {
  readonly connections: number
  /** Requests a second; null for a closed loop. */
  readonly rate: number | null
}

/** The rounds of one contestant, in order. */
export type Rounds = ReadonlyMap<string, ReadonlyArray<Measured>>

/** Requests by one unit of work. */
const inUnits = (measured: Measured, units: number): Measured => ({
  ...measured,
  rate: measured.rate * units,
  cpu: {
    server: measured.cpu.server / units,
    database: measured.cpu.database / units,
    load: measured.cpu.load / units,
  },
})

export const alternate = async (bench: Bench, entrants: ReadonlyArray<Entrant>, kind: LoadKind): Promise<Rounds> => {
  const rounds = new Map(entrants.map(({ name }) => [name, [] as Array<Measured>]))
  for (let round = 0; round < bench.rounds; round++) {
    for (let turn = 0; turn < entrants.length; turn++) {
      const entrant = entrants[(turn + round) % entrants.length]!
      await bench.cluster.settle()
      const order = {
        ...kind,
        port: entrant.port,
        requests: entrant.requests,
        warmUp: bench.warmUp,
        seconds: bench.seconds,
      }
      const measured = inUnits(await load(order, entrant, bench.cluster.cpu), entrant.units ?? 1)
      rounds.get(entrant.name)!.push(measured)
      const { server, database } = measured.cpu
      bench.say(
        `  ${round + 1} ${entrant.name}: ${Math.round(measured.rate)}/s, p99 ${measured.p99.toFixed(1)} ms, CPU ${Math.round(server)} + ${Math.round(database)} us`,
      )
    }
  }
  return rounds
}

const cpuOf = ({ cpu }: Measured): number => cpu.server + cpu.database

/** How many times as fast one is as another: by rate, and by the CPU that the other needs for the same. */
export const faster = (
  rounds: Rounds,
  ours: string,
  other: string,
  goal: { readonly work: string; readonly atLeast: number; readonly other?: string },
): Goal => {
  const [a, b] = [rounds.get(ours)!, rounds.get(other)!]
  return {
    work: goal.work,
    goal: `≥ ${goal.atLeast} × ${goal.other ?? other}`,
    atLeast: goal.atLeast,
    ratios: divided(
      a.map(({ rate }) => rate),
      b.map(({ rate }) => rate),
    ),
    cpuRatios: divided(b.map(cpuOf), a.map(cpuOf)),
  }
}

export const standingsOf = (rounds: Rounds, unit: string): ReadonlyArray<Standing> =>
  [...rounds].map(([contestant, all]) => ({
    contestant,
    value: median(all.map(({ rate }) => rate)),
    unit,
    cpu: { server: median(all.map(({ cpu }) => cpu.server)), database: median(all.map(({ cpu }) => cpu.database)) },
  }))
