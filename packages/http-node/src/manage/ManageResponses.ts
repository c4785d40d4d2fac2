/** The shapes of the management API's responses: one object, a list, or nothing. */
import type { Shape } from "@data-cabinet/core/json/Shape"
import { orNull, page, time } from "../openapi/SchemaForms.ts"
import type { ManageEndpoint } from "./ManageEndpoint.ts"
import { manageRef } from "../routes/ManageSchemas.ts"

type ResponseSpec = ManageEndpoint["response"]
type Described = Pick<ResponseSpec, "schema" | "components"> & { readonly schema: object }
/** A named shape, or the name of a schema in `MANAGE_SCHEMAS`. */
type Responded = Shape<never> | Parameters<typeof manageRef>[0]

const describedBy = (responded: Responded): Described =>
  typeof responded === "string" ? { schema: manageRef(responded) } : responded

export const one = (responded: Responded, description: string, status: 200 | 201 = 200): ResponseSpec => {
  const { schema, components = {} } = describedBy(responded)
  return { status, description, schema, components }
}

export const list = (item: Responded, description: string): ResponseSpec => {
  const { schema, components = {} } = describedBy(item)
  const nextCursor = {
    type: ["string", "null"],
    description: "Where the next page begins; null on the last one and for lists without pages.",
  }
  return { status: 200, description, schema: page(schema, nextCursor), components }
}

/** A list that is filtered while it is walked. */
export const searched = (item: Responded, description: string): ResponseSpec => {
  const { schema, components = {} } = describedBy(item)
  const nextCursor = { type: ["string", "null"], description: "Where the next page begins; null on the last one." }
  const searchedTo = orNull(
    time(
      "How far back the list was searched; null if all of it was. Nothing was found before that, and nothing is known of older ones.",
    ),
  )
  return { status: 200, description, schema: page(schema, nextCursor, { searched_to: searchedTo }), components }
}

export const nothing = (description: string): ResponseSpec => ({ status: 204, description, schema: null })

/** A list without pages. */
export const whole = <A>(items: ReadonlyArray<A>) => ({ data: items, has_more: false, next_cursor: null })

/** From one item more than requested, the page and whether there is more. `at`: what the next page begins before. */
export const pageOf = <A>(items: ReadonlyArray<A>, limit: number, at: (item: A) => string) => {
  const data = items.slice(0, limit)
  const last = data.at(-1)
  const more = items.length > limit
  return { data, has_more: more, next_cursor: more && last !== undefined ? at(last) : null }
}
