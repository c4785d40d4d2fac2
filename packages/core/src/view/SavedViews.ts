/**
 * Saves selections of rows under a title. Only its creator and owners can see and remove a private view; for others it
 * does not exist. Refuses a selection that the rows themselves would refuse.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { type Actor, CurrentActor } from "../audit/Actor.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { fromCall } from "../runtime/AbortableCall.ts"
import { type RowsRequest, SelectRows } from "../selection/SelectRows.ts"
import type { NewSavedView, SavedView, ViewMaker } from "./SavedView.ts"

/** Stores saved views. It decides nothing: the caller has been authorized, and the view checked. */
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

/** A refused operation on saved views. */
export class SavedViewError extends Schema.TaggedError<SavedViewError>()("SavedViewError", {
  code: Schema.Literals(["no_such_view", "bad_title", "bad_query", "too_many_views", "not_your_view"]),
  message: Schema.String,
}) {}

type Returns<A> = Effect.Effect<A, SavedViewError | StoreUnavailable>

/** The longest title, in characters. */
export const MAX_TITLE_LENGTH = 200
/** The longest query string, in characters. */
export const MAX_QUERY_LENGTH = 8_192
/** The limit of one person or token. */
const MAX_VIEWS = 200

export class SavedViews extends Context.Service<
  SavedViews,
  {
    readonly save: (view: NewSavedView) => Returns<SavedView>
    /** The views that the caller may see, by title. */
    readonly list: Effect.Effect<ReadonlyArray<SavedView>, StoreUnavailable>
    readonly get: (id: number) => Returns<SavedView>
    /** Only by its creator or an owner. */
    readonly remove: (id: number) => Returns<void>
  }
>()("@data-cabinet/core/view/SavedViews") {
  static readonly layer = Layer.effect(
    SavedViews,
    Effect.gen(function* () {
      const store = yield* SavedViewStore
      const rows = yield* SelectRows
      /** If rows cannot be read at the moment, the selection is not at fault. */
      const checkRows = (request: RowsRequest) =>
        fromCall((call) => rows.page(request, call)).pipe(
          Effect.catchTags({
            SelectionError: ({ message }) => refuse("bad_query", message),
            ReadError: () => Effect.void,
          }),
        )
      const get = Effect.fnUntraced(function* (id: number) {
        const actor = yield* CurrentActor
        const found = yield* store.find(id)
        return Option.isSome(found) && maySee(actor, found.value) ? found.value : yield* noSuchView(id)
      })
      return SavedViews.of({
        save: Effect.fnUntraced(function* (view) {
          const title = view.title.trim()
          if (title === "" || title.length > MAX_TITLE_LENGTH || title.includes("\0")) {
            return yield* refuse("bad_title", `A title has 1 to ${MAX_TITLE_LENGTH} characters.`)
          }
          const query = yield* queryOf(view.query)
          if (`${view.schema}${view.name}`.includes("\0"))
            return yield* refuse("bad_query", "No such table or view exists.")
          yield* checkRows({ schema: view.schema, name: view.name, params: [...query] })
          const actor = yield* CurrentActor
          const saved = yield* store.add({ ...view, title, query: query.toString(), maker: makerOf(actor) }, MAX_VIEWS)
          if (Option.isSome(saved)) return saved.value
          return yield* refuse("too_many_views", `At most ${MAX_VIEWS} views can be saved: remove one first.`)
        }),
        list: Effect.gen(function* () {
          const actor = yield* CurrentActor
          return (yield* store.list).filter((view) => maySee(actor, view))
        }),
        get,
        remove: Effect.fnUntraced(function* (id) {
          const view = yield* get(id)
          if (!mayRemove(yield* CurrentActor, view)) {
            return yield* refuse("not_your_view", "Only the person who saved a view, or an owner, can remove it.")
          }
          yield* store.remove(id)
        }),
      })
    }),
  )
}

/** The cabinet itself, and any process with its database, is an owner. */
const PROGRAM = { kind: "program", id: null, name: "program" } as const

const makerOf = (actor: Actor | null) =>
  actor === null ? PROGRAM : { kind: actor.kind, id: actor.id, name: actor.name }

/** True for the creator, an owner, and a program. */
export const mayRemove = (actor: Actor | null, { maker }: Pick<SavedView, "maker">): boolean =>
  actor === null || actor.role === "owner" || (actor.kind === maker.kind && actor.id === maker.id)

const maySee = (actor: Actor | null, view: SavedView): boolean => view.shared || mayRemove(actor, view)

const refuse = (code: SavedViewError["code"], message: string) => Effect.fail(new SavedViewError({ code, message }))

const noSuchView = (id: number) => refuse("no_such_view", `Saved view ${id} does not exist.`)

/** A saved selection does not include its cursor. */
const queryOf = (query: string): Effect.Effect<URLSearchParams, SavedViewError> => {
  if (query.length > MAX_QUERY_LENGTH)
    return refuse("bad_query", `The query has more than ${MAX_QUERY_LENGTH} characters.`)
  const params = new URLSearchParams(query)
  params.delete("cursor")
  return Effect.succeed(params)
}
