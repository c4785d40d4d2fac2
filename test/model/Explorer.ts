/**
 * A small explicit-state model checker. It visits every state that a model can reach, breadth first, so that the trace to
 * a broken rule is as short as any. It also finds states from which the goal cannot be reached any more: a protocol that
 * is stuck breaks no rule.
 */

/** A named step, and the state after it. */
export type Step<State> = readonly [name: string, next: State]

export interface Model<State> {
  readonly initial: State
  /** Every step that is possible in a state. */
  readonly steps: (state: State) => Iterable<Step<State>>
  /** Names the rule that a state breaks; null if it keeps all rules. */
  readonly broken: (state: State) => string | null
  /** Must stay reachable from every state. */
  readonly isGoal: (state: State) => boolean
  /** One line of a trace. */
  readonly show: (state: State) => string
}

export interface Explored {
  readonly states: number
  /** The shortest way to a broken rule, one step a line; null if every state keeps the rules. */
  readonly counterexample: string | null
}

/** A model with more states is a mistake: its states are not finite, or no test can wait for them. */
const MAX_STATES = 2_000_000

/** States share what a step leaves unchanged, so most of a key is known already. */
const keys = new WeakMap<object, string>()

/** Equal states have equal keys, whose members come in the same order. */
export const keyOf = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return String(value)
  const known = keys.get(value)
  if (known !== undefined) return known
  const members = Array.isArray(value)
    ? value.map(keyOf)
    : Object.entries(value).map(([name, member]) => `${name}:${keyOf(member)}`)
  const key = `{${members.join(",")}}`
  keys.set(value, key)
  return key
}

/** A state that was found, and how. */
interface Found<State> {
  readonly state: State
  /** The index of the state before it; -1 for the initial state. */
  readonly before: number
  readonly step: string
}

const traceTo = <State>(found: ReadonlyArray<Found<State>>, index: number, show: Model<State>["show"]): string => {
  const lines: Array<string> = []
  for (let at = index; at >= 0; at = found[at]!.before) lines.unshift(`${found[at]!.step}: ${show(found[at]!.state)}`)
  return lines.map((line, step) => `${step}. ${line}`).join("\n")
}

/** The first state, in the order of discovery, from which no goal is reachable; -1 without one. */
const stuckState = (goals: ReadonlyArray<number>, previous: ReadonlyArray<ReadonlyArray<number>>): number => {
  const reaches = new Uint8Array(previous.length)
  const waiting = [...goals]
  for (const goal of goals) reaches[goal] = 1
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const before of previous[at]!) {
      if (reaches[before] === 1) continue
      reaches[before] = 1
      waiting.push(before)
    }
  }
  return reaches.indexOf(0)
}

/** Visits every state, or stops at the first that breaks a rule. */
export const explore = <State>({ initial, steps, broken, isGoal, show }: Model<State>): Explored => {
  const found: Array<Found<State>> = [{ state: initial, before: -1, step: "start" }]
  const indexes = new Map([[keyOf(initial), 0]])
  const previous: Array<Array<number>> = [[]]
  const goals: Array<number> = []
  for (let at = 0; at < found.length; at++) {
    const { state } = found[at]!
    const rule = broken(state)
    if (rule !== null) {
      return { states: found.length, counterexample: `${traceTo(found, at, show)}\n=> ${rule}` }
    }
    if (isGoal(state)) goals.push(at)
    for (const [step, next] of steps(state)) {
      const key = keyOf(next)
      const known = indexes.get(key)
      if (known !== undefined) {
        previous[known]!.push(at)
        continue
      }
      if (found.length === MAX_STATES) throw new Error(`The model has more than ${MAX_STATES} states`)
      indexes.set(key, found.length)
      found.push({ state: next, before: at, step })
      previous.push([at])
    }
  }
  const stuck = stuckState(goals, previous)
  return {
    states: found.length,
    counterexample: stuck < 0 ? null : `${traceTo(found, stuck, show)}\n=> the goal is out of reach`,
  }
}
