/** Conditions for the fields of events in a body, under the names that the parameters of rows have. */
import { MAX_FILTERS } from "@data-cabinet/core/delivery/FieldFilter"
import { FILTER_CONDITIONS } from "@data-cabinet/core/selection/Selection"
import { Schema } from "effect"
import { text } from "../manage/ManageBodies.ts"

export const conditionsField = (description: string) =>
  Schema.Array(
    Schema.Struct({
      fc: text(1_000, "The field's name, as its sender writes it."),
      fo: Schema.Literals(FILTER_CONDITIONS).annotate({ description: "The condition." }),
      fv: text(1_000, "The value; empty for `empty` and `notempty`."),
    }),
  )
    .check(Schema.isMaxLength(MAX_FILTERS))
    .annotate({ description })
