/** The schema of a list: the three members of every page around its items. */
import * as Shape from "@data-cabinet/core/json/Shape"

/** `more`: further members of the page. */
export const page = (
  item: Shape.JsonSchema,
  nextCursor: Shape.JsonSchema,
  more: { readonly [name: string]: Shape.JsonSchema } = {},
): Shape.JsonSchema =>
  Shape.describedOnly("A list.", {
    data: Shape.leaf({ type: "array", items: item }),
    has_more: Shape.flag("Whether more can be read immediately with `next_cursor`."),
    next_cursor: Shape.leaf(nextCursor),
    ...Object.fromEntries(Object.entries(more).map(([name, schema]) => [name, Shape.leaf(schema)])),
  }).schema
