/**
 * The scope of a token with a list. For its reader nothing else exists: unlisted objects are missing from lists and
 * from the feed, and unknown by name or id. The list is checked before any lookup, so that not even the time of a
 * refusal reveals whether an object exists.
 *
 * Decision: docs/decisions/0057-readers-with-a-list.md
 */
import { Option } from "effect"
import type { ReadableTable } from "../row/Catalog.ts"
import type { TableDetail } from "../row/Table.ts"

/** A table or view, under the name that it has now. */
export interface ScopedObject {
  readonly schema: string
  readonly name: string
  readonly oid: number
}

export interface ReadScope {
  /** By id, so a new source with an old name is not included. */
  readonly sources: ReadonlySet<number>
  /** The tables of these sources, and the objects listed individually. */
  readonly objects: ReadonlyArray<ScopedObject>
}

/** Null for a reader of the whole cabinet. */
export type ReadScopeOrAll = ReadScope | null

/** True if the scope includes this source. */
export const mayReadSource = (scope: ReadScopeOrAll, id: number): boolean => scope === null || scope.sources.has(id)

/** The oid that an object must have to be read under this name; undefined if no object of this name may be read. */
export const scopedOid = ({ objects }: ReadScope, schema: string, name: string): number | undefined =>
  objects.find((object) => object.schema === schema && object.name === name)?.oid

/** The object as its reader may know it: a view's query names objects that are not listed. */
export const scopedDetail = (scope: ReadScopeOrAll, table: ReadableTable): Option.Option<TableDetail> => {
  const { detail, oid } = table
  if (scope === null) return Option.some(detail)
  return scopedOid(scope, detail.schema, detail.name) === oid
    ? Option.some({ ...detail, definition: null })
    : Option.none()
}
