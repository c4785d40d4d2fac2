/** The sources of a file: what changes of their settings, and of how their senders are verified. */
import { camelKey } from "@data-cabinet/core/json/KeyCase"
import type { Source } from "@data-cabinet/core/source/Source"
import { settingsFrom } from "@data-cabinet/core/source/Providers"
import { DEFAULT_SETTINGS, SOURCE_SETTINGS, type SourceSettings } from "@data-cabinet/core/source/SourceSettings"
import { checkSettings, Sources } from "@data-cabinet/core/source/Sources"
import { SETTINGS_PARAMS, settingsOf } from "@data-cabinet/http-node/source/SourceBodies"
import { Effect, Result } from "effect"
import type { Entry } from "./FileSchema.ts"
import { planChallenge, planProof, planVerification } from "./PlanVerification.ts"
import type { Path, Problem } from "./Problem.ts"
import {
  type Pair,
  fieldChanges,
  type FieldChange,
  pairUp,
  type Planning,
  repeated,
  type SectionPlan,
  type Step,
} from "./Step.ts"

type SourceEntry = Entry<"sources">

/** The settings under their names in the file. */
export const settingsJson = (settings: SourceSettings): { readonly [name: string]: unknown } =>
  Object.fromEntries(SOURCE_SETTINGS.all.map(({ key, name }) => [name, settings[key]]))

/** The defaults of a new source, under their names in the file. */
export const DEFAULT_SETTINGS_JSON = settingsJson(DEFAULT_SETTINGS)

/** In the form in which they are stored. */
const normalized = (settings: SourceSettings): SourceSettings => ({
  ...settings,
  ...Object.fromEntries(
    SOURCE_SETTINGS.all.flatMap(({ key, setting: { stored } }) =>
      stored === undefined ? [] : [[key, stored(settings[key] as never)]],
    ),
  ),
})

/** The settings that an entry demands; `verify` as it is with the sender that `from` names. */
const demanded = (entry: SourceEntry) => {
  const { name, from, verify, challenge, proof, archived: _, ...settings } = entry
  const { secret: _secret, ...recipe } = verify ?? {}
  const { verify: expanded = null, ...own } = settingsFrom(
    {
      ...settingsOf({ ...settings, ...(verify == null ? {} : { verify: recipe }) }),
      ...(from === undefined ? {} : { from }),
    },
    DEFAULT_SETTINGS,
  )
  return { name, challenge, proof, verify: expanded, settings: { ...DEFAULT_SETTINGS, ...own } }
}

const settingsProblem = (settings: SourceSettings, name: string, path: Path): ReadonlyArray<Problem> => {
  const checked = Effect.runSync(Effect.result(checkSettings({ ...settings, name })))
  if (Result.isSuccess(checked)) return []
  const { code, message } = checked.failure
  const [, member] = (SETTINGS_PARAMS[code as keyof typeof SETTINGS_PARAMS] ?? "").split("/")
  return [{ path: member === undefined ? path : [...path, member], message }]
}

interface Changed {
  readonly fields: ReadonlyArray<FieldChange>
  readonly change: object
}

/** Only the settings that differ, under their names in the program. */
const changedSettings = (before: SourceSettings, after: SourceSettings): Changed => {
  const fields = fieldChanges(settingsJson(before), settingsJson(after))
  return { fields, change: Object.fromEntries(fields.map(({ name, after: value }) => [camelKey(name), value])) }
}

const archiving = (entry: SourceEntry, object: Source | null): ReadonlyArray<FieldChange> => {
  const before = object?.archived ?? false
  return entry.archived === undefined || entry.archived === before
    ? []
    : [{ name: "archived", before, after: entry.archived }]
}

const planOne = ({ entry, path, object }: Pair<SourceEntry, Source>, planning: Planning) => {
  const { name, settings, verify, challenge, proof } = demanded(entry)
  const after = normalized(settings)
  const own = changedSettings(object ?? DEFAULT_SETTINGS, after)
  const verifying =
    entry.verify === undefined
      ? null
      : planVerification(
          { current: object?.verify ?? null, wanted: verify, secret: entry.verify?.secret, path: [...path, "verify"] },
          planning,
        )
  const answering =
    challenge === undefined
      ? null
      : planChallenge({ current: object?.challenge ?? null, wanted: challenge, path: [...path, "challenge"] }, planning)
  const proving =
    proof === undefined
      ? null
      : planProof({ current: object?.proof ?? null, wanted: proof, path: [...path, "proof"] }, planning)
  const switched = archiving(entry, object)
  const changes = [own, verifying, answering, proving].filter((one) => one !== null)
  const fields = changes.flatMap((one) => one.fields)
  const problems = [
    ...settingsProblem(settings, name, path),
    ...(verifying?.problems ?? []),
    ...(answering?.problems ?? []),
    ...(proving?.problems ?? []),
  ]
  const change = { ...own.change, ...verifying?.change, ...answering?.change, ...proving?.change }
  const step: Step = {
    section: "sources",
    action: object === null ? "create" : "change",
    name,
    fields: [...fields, ...switched],
    run: Effect.fnUntraced(function* (made) {
      const sources = yield* Sources
      const id = object === null ? (yield* sources.create({ ...change, name })).id : object.id
      if (object !== null && fields.length > 0) yield* sources.change(id, change)
      if (switched.length > 0) yield* entry.archived === true ? sources.archive(id) : sources.restore(id)
      made.sources.set(name, id)
    }),
  }
  return { step, problems, isSame: object !== null && step.fields.length === 0 }
}

const removal = ({ id, name }: Source): Step => ({
  section: "sources",
  action: "remove",
  name,
  fields: [],
  run: () => Sources.use((sources) => sources.remove(id, "keep")),
})

/** The steps for the sources of a file. */
export const planSources = (
  entries: ReadonlyArray<SourceEntry>,
  current: ReadonlyArray<Source>,
  planning: Planning,
): SectionPlan => {
  const { pairs, left, problems } = pairUp("sources", entries, current, {
    ofEntry: ({ name }) => name,
    ofObject: ({ name }) => name,
  })
  const planned = pairs.map((pair) => planOne(pair, planning))
  return {
    steps: planned.filter(({ isSame }) => !isSame).map(({ step }) => step),
    removals: left.map(removal),
    unchanged: planned.filter(({ isSame }) => isSame).length,
    problems: [
      ...repeated("sources", entries, ({ name }) => name),
      ...problems,
      ...planned.flatMap((one) => one.problems),
    ],
  }
}
