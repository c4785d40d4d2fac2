/** Stores saved views. It decides nothing: the caller has been authorized, and the view checked. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { NewSavedView, SavedView, ViewMaker } from "./SavedView.ts"

export class SavedViewStore extends Context.Service<
  SavedViewStore,
  {
    /** None if its creator has reached the limit. */
    readonly add: (
      view: NewSavedView & { readonly maker: ViewMaker },
      most: number,
    ) => Effect.Effect<Option.Option<SavedView>, StoreUnavailable>
    /** All views, by title. */
    readonly list: Effect.Effect<ReadonlyArray<SavedView>, StoreUnavailable>
    readonly find: (id: number) => Effect.Effect<Option.Option<SavedView>, StoreUnavailable>
    readonly remove: (id: number) => Effect.Effect<void, StoreUnavailable>
  }
>()("@data-cabinet/core/view/SavedViewStore") {}
