/**
 * The scope of a token with a list. For its reader nothing else exists: unlisted objects are missing from lists and
 * from the feed, and unknown by name or id. The list is checked before any lookup, so that not even the time of a
 * refusal reveals whether an object exists.
 *
 * Decision: docs/decisions/0057-readers-with-a-list.md
 */
import type { ListedObject } from "../row/Tables.ts"

export interface ReadScope {
  /** By id, so a new source with an old name is not included. */
  readonly sources: ReadonlySet<number>
  /** The tables of these sources, and the objects listed individually. */
  readonly objects: ReadonlyArray<ListedObject>
}

/** Null for a reader of the whole cabinet. */
export type ReadScopeOrAll = ReadScope | null

/** True if the scope includes this source. */
export const mayReadSource = (scope: ReadScopeOrAll, id: number): boolean => scope === null || scope.sources.has(id)
