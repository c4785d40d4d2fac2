/** Alternating rounds of load: every contestant in every round, starting with a different one each time. */
import type { Contestant } from "./contestant.ts"
import type { Bench, Goal, Standing } from "./figure.ts"
import { divided, median } from "./figure.ts"
import { load, type Measured } from "./load/load.ts"
import { processCpu } from "./processCpu.ts"

interface Contender {
  readonly name: string
  readonly pid: number
  /** Units of work in a request; 1 unless it is a batch. */
  readonly units?: number
  /** The processes of a yardstick, which take turns. */
  readonly processes?: ReadonlyArray<Contestant>
}

/** A contender by one of its processes. */
const processOf = <A extends Contender>(contender: A, turn: number): A => {
  const { processes } = contender
  return processes === undefined ? contender : { ...contender, ...processes[turn % processes.length] }
}

/** A server, with the requests that it is sent. */
export interface Entrant extends Contender {
  readonly port: number
  readonly requests: ReadonlyArray<string>
  /** The signing secret. */
  readonly secret?: string
}

/** A process that works on request for a number of seconds, and reports how much it did. */
export interface Driven extends Contender {
  readonly drives: true
  readonly ask: (what: unknown) => Promise<unknown>
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

const drive = async ({ name, ask, pid }: Driven, order: Times, databaseCpu: () => number): Promise<Measured> => {
  await ask({ prepare: order })
  await ask({ seconds: order.warmUp })
  const before = { server: processCpu(pid), database: databaseCpu() }
  const { done, seconds } = (await ask({ seconds: order.seconds })) as { done: number; seconds: number }
  if (done === 0) throw new Error(`${name} had nothing left to do in a round`)
  const each = (now: number, then: number) => ((now - then) * 1000) / done
  const cpu = { server: each(processCpu(pid), before.server), database: each(databaseCpu(), before.database), load: 0 }
  return {
    done,
    seconds,
    rate: done / seconds,
    cpu,
    median: 0,
    p99: 0,
    most: 0,
    late: 0,
    failures: 0,
    firstFailure: null,
  }
}

interface Times {
  readonly warmUp: number
  readonly seconds: number
}

const once = (
  bench: Bench,
  entrant: Entrant | Driven,
  kind: LoadKind,
  { warmUp, seconds }: Times,
): Promise<Measured> => {
  if ("drives" in entrant) return drive(entrant, { warmUp, seconds }, bench.cluster.cpu)
  const { port, requests, secret } = entrant
  return load({ ...kind, port, requests, secret, warmUp, seconds }, entrant, bench.cluster.cpu)
}

/** Warms up each contender before the first round, because code is fast only after it has run for a while. */
export const alternate = async (
  bench: Bench,
  entrants: ReadonlyArray<Entrant | Driven>,
  kind: LoadKind,
): Promise<Rounds> => {
  const rounds = new Map(entrants.map(({ name }) => [name, [] as Array<Measured>]))
  for (const entrant of entrants) {
    for (const [turn] of (entrant.processes ?? [entrant]).entries()) {
      await once(bench, processOf(entrant, turn), kind, { warmUp: 0, seconds: bench.runIn })
    }
  }
  for (let round = 0; round < bench.rounds; round++) {
    for (let turn = 0; turn < entrants.length; turn++) {
      const entrant = entrants[(turn + round) % entrants.length]!
      await bench.cluster.settle()
      const measured = inUnits(await once(bench, processOf(entrant, round), kind, bench), entrant.units ?? 1)
      rounds.get(entrant.name)!.push(measured)
      tell(bench, round, entrant.name, measured)
    }
  }
  return rounds
}

export const tell = (bench: Bench, round: number, name: string, { rate, p99, cpu }: Measured): void => {
  const slow = p99 === 0 ? "" : `, p99 ${p99.toFixed(1)} ms`
  bench.say(
    `  ${round + 1} ${name}: ${Math.round(rate)}/s${slow}, CPU ${Math.round(cpu.server)} + ${Math.round(cpu.database)} us`,
  )
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
