/** A selection of a table's rows, saved under a title, for its creator alone or for everyone. */
import type { Actor } from "../audit/Actor.ts"

/** The actor who saved it; people and tokens are identified by their id. */
export type ViewMaker = Pick<Actor, "kind" | "id" | "name">

/** A view to save. */
export interface NewSavedView {
  readonly title: string
  readonly schema: string
  readonly name: string
  /** The query string of the rows, encoded, without a cursor. */
  readonly query: string
  readonly shared: boolean
}

export interface SavedView extends NewSavedView {
  readonly id: number
  readonly maker: ViewMaker
  /** RFC 3339 in UTC. */
  readonly createdAt: string
}

/** A saved view as JSON. */
export const savedViewJson = ({ createdAt, maker, ...view }: SavedView) => ({
  id: view.id,
  title: view.title,
  schema: view.schema,
  name: view.name,
  query: view.query,
  shared: view.shared,
  maker: { kind: maker.kind, id: maker.id, name: maker.name },
  created_at: createdAt,
})
