/** The plan of a whole file: every change, in an order in which each finds what it needs. */
import type { CabinetState } from "./CabinetState.ts"
import { type ConfigFile, type SectionName, SECTIONS } from "./FileSchema.ts"
import { planKeys, planPeople, planTokens } from "./PlanAccess.ts"
import { knownSources, planAddresses } from "./PlanAddresses.ts"
import { planDestinations } from "./PlanDestinations.ts"
import { planPolls } from "./PlanPolls.ts"
import { planSchemas } from "./PlanSchemas.ts"
import { planSources } from "./PlanSources.ts"
import type { Problem } from "./Problem.ts"
import type { Planning, SectionPlan, Step } from "./Step.ts"

/** What an apply does. */
export interface Plan {
  /** In order: what others refer to is created first, and removed last. */
  readonly steps: ReadonlyArray<Step>
  readonly unchanged: number
  /** How many objects the file does not name; with `prune` their removal is among the steps. */
  readonly unnamed: number
  readonly problems: ReadonlyArray<Problem>
}

/** The sections that a file has. Of the others nothing is changed, and nothing removed. */
export const sectionsOf = (file: ConfigFile): ReadonlyArray<SectionName> =>
  SECTIONS.filter((section) => file[section] !== undefined)

/** What refers to others goes first. The token of this very call may be among those that go, so they are the last. */
const REMOVED: ReadonlyArray<SectionName> = [
  "polls",
  "addresses",
  "destinations",
  "schemas",
  "sources",
  "keys",
  "people",
  "tokens",
]

/** Plans a file. `prune`: what the sections of the file do not name is removed. */
export const planFile = (
  file: ConfigFile,
  state: CabinetState,
  { prune, ...planning }: Planning & { readonly prune: boolean },
): Plan => {
  const {
    sources = [],
    addresses = [],
    polls = [],
    destinations = [],
    keys = [],
    tokens = [],
    people = [],
    schemas = [],
  } = file
  const present = new Set(sectionsOf(file))
  const left = prune && present.has("sources") ? new Set(sources.map(({ name }) => name)) : null
  const staying = left === null ? state.sources : state.sources.filter(({ name }) => left.has(name))
  const known = knownSources(
    staying,
    sources.map(({ name }) => name),
    state.sources,
  )
  const plans: { readonly [S in SectionName]: () => SectionPlan } = {
    sources: () => planSources(sources, state.sources, planning),
    schemas: () => planSchemas(schemas, state.schemas),
    addresses: () => planAddresses(addresses, state.addresses, known, planning),
    polls: () => planPolls(polls, state.polls, known, planning),
    destinations: () => planDestinations(destinations, state.destinations, known, planning),
    keys: () => planKeys(keys, state.keys, planning),
    tokens: () => planTokens(tokens, state.tokens, planning),
    people: () => planPeople(people, state.people),
  }
  const bySection = new Map(sectionsOf(file).map((section) => [section, plans[section]()]))
  const planned = [...bySection.values()]
  const removals = REMOVED.flatMap((section) => bySection.get(section)?.removals ?? [])
  return {
    steps: [...planned.flatMap((one) => one.steps), ...(prune ? removals : [])],
    unchanged: planned.reduce((sum, one) => sum + one.unchanged, 0),
    unnamed: removals.length,
    problems: [...planned.flatMap((one) => one.problems), ...planning.references.problems],
  }
}
