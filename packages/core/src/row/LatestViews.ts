/**
 * Views of the latest row by key: a source's table only grows, and the last row about a thing is its current state.
 *
 * A view is created as the author, with the author's rights. Of equally late rows, the one with the greatest primary
 * key wins, so that every read agrees. Refuses a view over itself, which could never be read.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import * as Shape from "../json/Shape.ts"
import { Catalog, type ReadableTable } from "./Catalog.ts"
import { type LatestViewPlan, LatestViewStore } from "./LatestViewStore.ts"

/**
 * `no_such_table`: no readable object has this name. `no_such_column`: the object has no such column. `bad_columns`:
 * the key has no column, too many, or one of them twice. `bad_view_name`: no view can have this name. `no_author`: no
 * role may create views. `view_failed`: PostgreSQL refused; the message is its own.
 */
export class LatestViewError extends Schema.TaggedError<LatestViewError>()("LatestViewError", {
  code: Schema.Literals([
    "no_such_table",
    "no_such_column",
    "bad_columns",
    "bad_view_name",
    "no_author",
    "view_failed",
  ]),
  message: Schema.String,
}) {}

/** The settings of a view of the latest rows. */
export interface LatestViewQuery {
  readonly schema: string
  readonly name: string
  /** The key: 1 to 32 columns. Rows in which one of them is empty are left out. */
  readonly keys: ReadonlyArray<string>
  /** The column that decides which row is later; default: `_event_id`, which every source's table has. */
  readonly by?: string | undefined
  /** The view's name with its schema; default: `public.NAME_latest`. */
  readonly view?: string | undefined
  /** Whether to replace a view of this name, which adds columns that the table has gained since. */
  readonly replace?: boolean | undefined
}

/** A view of the latest rows. */
export interface LatestView {
  /** Its name with its schema. */
  readonly view: string
  /** False if its SQL was only shown. */
  readonly created: boolean
  readonly sql: string
}

/** Its JSON and its description. */
export const latestViewShape = Shape.named(
  "LatestView",
  Shape.object<LatestView>("A view of the latest row by key.", {
    view: Shape.text("Its name with its schema."),
    created: Shape.flag("False if it was only shown."),
    sql: Shape.text("The statement that creates it."),
  }),
)

type Returns = Effect.Effect<LatestView, LatestViewError | StoreUnavailable>

export class LatestViews extends Context.Service<
  LatestViews,
  {
    /** Returns the SQL that would create it; creates nothing. */
    readonly show: (query: LatestViewQuery) => Returns
    readonly create: (query: LatestViewQuery) => Returns
  }
>()("@data-cabinet/core/row/LatestViews") {
  static readonly layer = Layer.effect(
    LatestViews,
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const store = yield* LatestViewStore

      const planned = Effect.fnUntraced(function* (query: LatestViewQuery) {
        const found = yield* catalog.find(query.schema, query.name)
        if (Option.isNone(found)) {
          return yield* refuse("no_such_table", `No readable table or view is named ${query.schema}.${query.name}.`)
        }
        return yield* planOf(found.value, query)
      })

      return LatestViews.of({
        show: (query) =>
          Effect.map(planned(query), (plan) => ({
            view: nameOf(plan.view),
            created: false,
            sql: store.statement(plan),
          })),
        create: Effect.fnUntraced(function* (query) {
          const plan = yield* planned(query)
          const view = nameOf(plan.view)
          yield* Effect.catchTag(store.create(plan), "ViewFailed", ({ code, detail }) =>
            refuse(code, code === "no_author" ? detail : `The view ${view} could not be created: ${detail}.`),
          )
          return { view, created: true, sql: store.statement(plan) }
        }),
      })
    }),
  )
}

/** The most columns that an index of PostgreSQL may have. */
const MAX_KEYS = 32
/** PostgreSQL would cut a longer name. */
const MAX_NAME_BYTES = 63
const DEFAULT_ORDER = "_event_id"

const planOf = Effect.fnUntraced(function* (
  { detail, columns }: ReadableTable,
  { keys, by = DEFAULT_ORDER, view: given, replace = false }: LatestViewQuery,
): Effect.fn.Return<LatestViewPlan, LatestViewError> {
  const of = { schema: detail.schema, name: detail.name }
  if (keys.length === 0 || keys.length > MAX_KEYS || new Set(keys).size < keys.length) {
    return yield* refuse("bad_columns", `The key has one to ${MAX_KEYS} columns, each of them once.`)
  }
  const known = new Map(columns.map((column) => [column.name, column]))
  const missing = [...keys, by].find((name) => !known.has(name))
  if (missing !== undefined) {
    return yield* refuse("no_such_column", `The object ${nameOf(of)} has no column ${missing}.`)
  }
  const view = viewNamed(given ?? `public.${of.name}_latest`)
  if (view === null) {
    const message =
      "The view's name must include its schema, such as public.orders_latest, and each of the two may have at most 63 bytes."
    return yield* refuse("bad_view_name", message)
  }
  if (nameOf(view) === nameOf(of)) {
    return yield* refuse("bad_view_name", `A view of ${nameOf(of)} needs another name than its own.`)
  }
  const order = [by, ...detail.key.filter((name) => name !== by && !keys.includes(name))]
  return {
    of,
    keys,
    order: order.map((column) => ({ column, mayBeEmpty: !known.get(column)!.notNull })),
    view,
    replace,
  }
})

const isName = (name: string) => name !== "" && !name.includes("\0") && Buffer.byteLength(name) <= MAX_NAME_BYTES

/** The first dot is the separator. */
const viewNamed = (text: string): LatestViewPlan["view"] | null => {
  const dot = text.indexOf(".")
  const [schema, name] = [text.slice(0, Math.max(0, dot)), text.slice(dot + 1)]
  return isName(schema) && isName(name) ? { schema, name } : null
}

const nameOf = ({ schema, name }: LatestViewPlan["view"]) => `${schema}.${name}`

const refuse = (code: LatestViewError["code"], message: string) => Effect.fail(new LatestViewError({ code, message }))
