/** How the methods of a use case become acts of the audit log. */
import type { Effect } from "effect"
import { maskUrl } from "../network/MaskedUrl.ts"
import type { Act } from "../audit/Managed.ts"

/** For each method of a use case its act, from the same arguments; null if it is not logged. */
export type Acts<S> = {
  readonly [K in keyof S]: S[K] extends (...args: infer A) => Effect.Effect<unknown, unknown>
    ? ((...args: A) => Act) | null
    : null
}

/** The changes, with the secrets of a URL masked. */
export const maskedUrl = (changes: { readonly url?: string; readonly [field: string]: unknown }): Act["changes"] =>
  changes.url === undefined ? { ...changes } : { ...changes, url: maskUrl(changes.url) }

/** An act on an existing object, such as `source 7`; null for an act on the whole cabinet. */
export const act = (action: string, object: string | null, changes: Act["changes"] = {}): Act => ({
  action,
  object,
  changes,
})

/** An act that creates an object of this kind; the entry names the object once it has an id. */
export const making = (action: string, makes: string, changes: Act["changes"]): Act => ({
  action,
  object: null,
  changes,
  makes,
})

/** The most event numbers listed in an entry. */
const MAX_LISTED_EVENTS = 100

/** The number of events, and the first of them. */
export const some = (events: ReadonlyArray<number>) => ({
  count: events.length,
  events: events.slice(0, MAX_LISTED_EVENTS),
})
