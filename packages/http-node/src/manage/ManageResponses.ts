/** The shapes of the management API's responses: one object, a list, or nothing. */
import * as Shape from "@data-cabinet/core/json/Shape"
import type { IdQuery } from "@data-cabinet/core/pagination/IdPages"
import { MAX_LIMIT } from "@data-cabinet/core/pagination/Page"
import { Effect } from "effect"
import type { ManageEndpoint } from "./ManageEndpoint.ts"
import { page } from "../openapi/Schemas.ts"

type ResponseSpec = ManageEndpoint["response"]

export const one = (
  { schema, components }: Shape.Shape<never>,
  description: string,
  status: 200 | 201 = 200,
): ResponseSpec => ({ status, description, schema, components })

export const list = ({ schema, components }: Shape.Shape<never>, description: string): ResponseSpec => {
  const nextCursor = {
    type: ["string", "null"],
    description: "Where the next page begins; null on the last one and for lists without pages.",
  }
  return { status: 200, description, schema: page(schema, nextCursor), components }
}

/** The number of objects that were affected. */
export const countShape = Shape.named(
  "Count",
  Shape.object<{ readonly count: number }>("The number of objects that were affected.", {
    count: Shape.whole("How many."),
  }),
)

/** A list that is filtered while it is walked. */
export const searched = ({ schema, components }: Shape.Shape<never>, description: string): ResponseSpec => {
  const nextCursor = { type: ["string", "null"], description: "Where the next page begins; null on the last one." }
  const { schema: searchedTo } = Shape.orNull(
    Shape.time(
      "How far back the list was searched; null if all of it was. Nothing was found within that range; older entries were not searched.",
    ),
  )
  return { status: 200, description, schema: page(schema, nextCursor, { searched_to: searchedTo }), components }
}

export const nothing = (description: string): ResponseSpec => ({ status: 204, description, schema: null })

/** A list without pages. */
export const whole = <A>(items: ReadonlyArray<A>) => ({ data: items, has_more: false, next_cursor: null })

/** What `pageAfter` finds by `limit` and `after`, each item as its JSON. */
export const idPage = <A extends { readonly id: number }, B, E, R>(
  pageAfter: (query: IdQuery) => Effect.Effect<ReadonlyArray<A>, E, R>,
  { limit = MAX_LIMIT, after = 0 }: { readonly limit?: number | undefined; readonly after?: number | undefined },
  json: (item: A) => B,
) =>
  Effect.map(pageAfter({ after, limit: limit + 1 }), (found) => {
    const { data, ...rest } = pageOf(found, limit, ({ id }) => String(id))
    return { data: data.map(json), ...rest }
  })

/** From one item more than requested, the page and whether there is more. `at`: what the next page begins before. */
export const pageOf = <A>(items: ReadonlyArray<A>, limit: number, at: (item: A) => string) => {
  const data = items.slice(0, limit)
  const last = data.at(-1)
  const more = items.length > limit
  return { data, has_more: more, next_cursor: more && last !== undefined ? at(last) : null }
}
