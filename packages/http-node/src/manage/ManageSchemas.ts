/** The schemas that every description of the management API has: those of the read API, and its own error. */
import * as Shape from "@data-cabinet/core/json/Shape"
import { SCHEMAS } from "../openapi/Schemas.ts"
import { MANAGE_CODES, MANAGE_TYPES } from "./ManageCode.ts"

/** The form of every error. */
export const errorShape = Shape.named(
  "Error",
  Shape.describedOnly("The form of every error.", {
    error: Shape.describedOnly("What is wrong.", {
      type: Shape.oneOf(MANAGE_TYPES),
      code: Shape.oneOf(Object.keys(MANAGE_CODES)),
      message: Shape.text("What was expected, in words."),
      param: Shape.orNull(Shape.text("The query parameter or path segment, or a JSON pointer into the body.")),
    }),
  }),
)

/** Schemas by name; those of responses come from their endpoints. */
export const COMMON_SCHEMAS: Shape.Components = { ...SCHEMAS, ...errorShape.components }
