/** A change that brings a cabinet nearer to its file, and how entries of the file are paired with objects of the cabinet. */
import type { AccessTokens } from "@data-cabinet/core/key/AccessTokens"
import type { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import type { Destinations } from "@data-cabinet/core/destination/Destinations"
import type { Addresses } from "@data-cabinet/core/delivery/Addresses"
import type { People } from "@data-cabinet/core/person/People"
import type { Polls } from "@data-cabinet/core/poll/Polls"
import type { SchemaGrants } from "@data-cabinet/core/row/SchemaGrants"
import type { Sources } from "@data-cabinet/core/source/Sources"
import type { Effect } from "effect"
import { isDeepStrictEqual } from "node:util"
import type { SectionName } from "./FileSchema.ts"
import type { Path, Problem } from "./Problem.ts"
import type { References } from "./References.ts"

/** A field of the file that changes. Its values are JSON, and never secret. */
export interface FieldChange {
  readonly name: string
  readonly before: unknown
  readonly after: unknown
}

/** The use cases with which steps act. */
export type Acting = AccessTokens | Addresses | ApiKeys | Destinations | People | Polls | SchemaGrants | Sources

/** A secret that was issued by a step, shown once. */
export interface Issued {
  readonly kind: string
  readonly name: string
  readonly secret: string
  /** The file that got it; null: it is printed. */
  readonly file: string | null
}

/** What the steps before have made. */
export interface Made {
  /** The ids of sources by name. */
  readonly sources: Map<string, number>
  readonly issued: Array<Issued>
}

/** One change of one object. */
export interface Step {
  readonly section: SectionName
  readonly action: "create" | "change" | "remove"
  /** As people read it. */
  readonly name: string
  readonly fields: ReadonlyArray<FieldChange>
  readonly run: (made: Made) => Effect.Effect<unknown, Error, Acting>
}

/** The steps of one section, and what the file may not demand. */
export interface SectionPlan {
  readonly steps: ReadonlyArray<Step>
  /** Objects of the cabinet that the file does not name. */
  readonly removals: ReadonlyArray<Step>
  readonly unchanged: number
  readonly problems: ReadonlyArray<Problem>
}

/** How to plan. */
export interface Planning {
  readonly references: References
  /** Whether secrets that the cabinet has are sent again. */
  readonly sendSecrets: boolean
}

/** In place of a secret. */
export const SECRET = "(secret)"

type JsonObject = { readonly [name: string]: unknown }

/** The members of `after` that differ from those of `before`. */
export const fieldChanges = (before: JsonObject, after: JsonObject): ReadonlyArray<FieldChange> =>
  Object.entries(after).flatMap(([name, value]) =>
    isDeepStrictEqual(before[name], value) ? [] : [{ name, before: before[name], after: value }],
  )

/** The members of these names. */
export const pick = (object: JsonObject, names: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries(names.filter((name) => name in object).map((name) => [name, object[name]]))

/** An entry with the object that it describes; null for one that is to be created. */
export interface Pair<E, O> {
  readonly entry: E
  readonly path: Path
  readonly object: O | null
}

interface Pairing<E, O> {
  readonly pairs: ReadonlyArray<Pair<E, O>>
  /** Objects without an entry. */
  readonly left: ReadonlyArray<O>
  readonly problems: ReadonlyArray<Problem>
}

/**
 * Pairs by name. Of several with one name the first entry is that of the first object, and so on. Where the cabinet has more
 * than the file, which of them is meant is not guessed.
 */
export const pairUp = <E, O>(
  section: SectionName,
  entries: ReadonlyArray<E>,
  objects: ReadonlyArray<O>,
  { ofEntry, ofObject }: { readonly ofEntry: (entry: E) => string; readonly ofObject: (object: O) => string },
): Pairing<E, O> => {
  const waiting = Map.groupBy(objects, ofObject)
  const pairs = entries.map((entry, index): Pair<E, O> => {
    const object = waiting.get(ofEntry(entry))?.shift() ?? null
    return { entry, path: [section, index], object }
  })
  const named = new Map(pairs.map((pair) => [ofEntry(pair.entry), pair]))
  const problems = [...waiting].flatMap(([name, left]): ReadonlyArray<Problem> => {
    const pair = named.get(name)
    if (pair === undefined || left.length === 0) return []
    const message = `the cabinet has more of this name than the file, and which of them is meant is not guessed: remove or rename ${left.length} of them first, or add them to the file.`
    return [{ path: pair.path, message }]
  })
  return { pairs, left: [...waiting].flatMap(([name, left]) => (named.has(name) ? [] : left)), problems }
}

/** Entries after the first of their name, where a name must be unique. */
export const repeated = <E>(section: SectionName, entries: ReadonlyArray<E>, nameOf: (entry: E) => string) => {
  const seen = new Set<string>()
  return entries.flatMap((entry, index): ReadonlyArray<Problem> => {
    const name = nameOf(entry)
    if (!seen.has(name)) {
      seen.add(name)
      return []
    }
    return [{ path: [section, index], message: `${JSON.stringify(name)} is in the file twice.` }]
  })
}
