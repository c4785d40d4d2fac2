/** Applies a file: plans it during its turn, and takes the steps. Steps that a killed run has taken are not planned again. */
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { AddressCheck, unfitAddress } from "@data-cabinet/core/delivery/AddressCheck"
import { Effect, Option } from "effect"
import { CommandError } from "../error/CommandError.ts"
import { type CabinetState, cabinetState } from "./CabinetState.ts"
import { unfitPlaces } from "./PlanDestinations.ts"
import { type Plan, planFile, sectionsOf } from "./PlanFile.ts"
import { type Problem, refusalOf } from "./Problem.ts"
import type { ReadFile } from "./ReadFile.ts"
import { referencesOf } from "./References.ts"
import { kindOf, shownName } from "./ShowPlan.ts"
import type { Issued, Made } from "./Step.ts"

/** How a file is applied. */
export interface ApplyOptions {
  /** As the user named it. */
  readonly name: string
  readonly prune: boolean
  readonly sendSecrets: boolean
}

/** Its turn was lost to another apply. */
export const lost = new CommandError({
  code: "refused",
  message:
    "Another apply has begun, because this one stood still for too long. Run it again: it makes the remaining changes.",
})

/** With direct access to the database, new URLs are checked before anything changes. A remote cabinet checks each as it is added. */
const unfitUrls = Effect.fnUntraced(function* ({ file }: ReadFile, state: CabinetState) {
  const check = yield* Effect.serviceOption(AddressCheck)
  if (Option.isNone(check)) return []
  const urls = (["addresses", "polls"] as const).flatMap((section) => {
    const known = new Set<string | undefined>(state[section].map(({ url }) => url))
    return (file[section] ?? [])
      .map(({ url }, index) => ({ url: URL.parse(url), path: [section, index, "url"] }))
      .filter(({ url }) => !known.has(url?.href))
  })
  const checked = yield* Effect.forEach(urls, ({ url, path }) =>
    url === null
      ? Effect.succeed([])
      : Effect.match(check.value.check(url), {
          onSuccess: (): ReadonlyArray<Problem> => [],
          onFailure: (unfit) => [{ path, message: unfitAddress(unfit).message }],
        }),
  )
  return checked.flat()
})

/** The plan of a file, which is refused with every reason at once. */
export const plannedFile = Effect.fnUntraced(function* (read: ReadFile, { name, prune, sendSecrets }: ApplyOptions) {
  const state = yield* cabinetState(sectionsOf(read.file))
  const plan = planFile(read.file, state, { references: referencesOf(name), sendSecrets, prune })
  const problems =
    plan.problems.length > 0
      ? plan.problems
      : [...(yield* unfitUrls(read, state)), ...(yield* unfitPlaces(read.file.destinations ?? [], state.destinations))]
  if (problems.length > 0) return yield* refusalOf(problems, name, read.placeOf)
  return { plan, sources: new Map(state.sources.map(({ name: called, id }) => [called, id])) }
})

interface Taking {
  /** Fails if another apply has begun meanwhile. */
  readonly renew: Effect.Effect<void, CommandError | StoreUnavailable>
  readonly onIssued: (issued: Issued) => Effect.Effect<void>
}

/** Takes the steps of a plan. */
export const takeSteps = Effect.fnUntraced(function* (
  { steps }: Plan,
  sources: Map<string, number>,
  { renew, onIssued }: Taking,
) {
  const made: Made = { sources, issued: [] }
  for (const [index, step] of steps.entries()) {
    yield* renew
    const seen = made.issued.length
    yield* Effect.mapError(step.run(made), (error) => {
      const done = index === 0 ? "Nothing was changed" : `${index} of ${steps.length} changes were made, and stay`
      const words = `The ${kindOf(step)} ${shownName(step)} was refused: ${error.message}`
      return new CommandError({ code: "refused", message: `${words} ${done}; run it again once that is corrected.` })
    })
    for (const one of made.issued.slice(seen)) yield* onIssued(one)
  }
})
