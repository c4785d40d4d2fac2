/** A selection of a table's rows, saved under a title, for its creator alone or for everyone. */
import { type Actor, actorShape } from "../audit/Actor.ts"
import * as Shape from "../json/Shape.ts"

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

/** A saved view as the APIs show it. */
export const savedViewShape = Shape.named(
  "SavedView",
  Shape.object<SavedView>("A selection of rows, saved under a title.", {
    id: Shape.id("Its id."),
    title: Shape.text("Its title."),
    schema: Shape.text("The schema of its table or view."),
    name: Shape.text("The name of its table or view."),
    query: Shape.text("The query string of its rows."),
    shared: Shape.flag("Whether everyone sees it."),
    maker: actorShape("Who saved it."),
    createdAt: Shape.time("When it was saved."),
  }),
)
