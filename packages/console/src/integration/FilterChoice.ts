/** The filter of an address in a form: a line a condition, and an empty one for another. */
import type { FieldFilter, FieldFilters } from "@data-cabinet/core/delivery/FieldFilter"
import { FILTER_CONDITIONS } from "@data-cabinet/core/selection/Selection"
import { Html, markup } from "@data-cabinet/http-node/html/Html"
import type { Frame } from "../html/Shell.ts"
import { fieldsOf } from "../screen/Act.ts"
import type { FormCall } from "../screen/ConsoleScreen.ts"

const NEW: FieldFilter = { fc: "", fo: "eq", fv: "" }

const line = (frame: Frame, { fc, fo, fv }: FieldFilter): Html => {
  const { integration: words, table } = frame.words
  return markup`<div class="filter"><input name="fc" value="${fc}" aria-label="${words.field}" placeholder="${words.field}" autocomplete="off">
<select name="fo" aria-label="${table.condition}">${FILTER_CONDITIONS.map(
    (condition) =>
      markup`<option value="${condition}"${condition === fo && new Html(" selected")}>${table.conditions[condition] ?? condition}</option>`,
  )}</select>
<input name="fv" value="${fv}" aria-label="${table.value}" placeholder="${table.value}" autocomplete="off"></div>`
}

export const filterChoice = (frame: Frame, filters: FieldFilters): Html => {
  const { integration: words } = frame.words
  return markup`<fieldset><legend>${words.onlyWhere}</legend>${[...filters, NEW].map((filter) => line(frame, filter))}<small>${words.onlyWhereHint}</small></fieldset>`
}

/**
 * Lines without a field and a value are none, and a form without lines says nothing. What is no condition is refused by the
 * use case.
 */
export const filtersOf = (call: FormCall): { readonly filters?: FieldFilters } => {
  const fields = fieldsOf(call, "fc")
  if (fields.length === 0) return {}
  const conditions = fieldsOf(call, "fo")
  const values = fieldsOf(call, "fv")
  const filters = fields
    .map((fc, at) => ({ fc, fo: conditions[at] as FieldFilter["fo"], fv: values[at] ?? "" }))
    .filter(({ fc, fv }) => fc !== "" || fv !== "")
  return { filters }
}

/** The conditions in words. */
export const filterText = (frame: Frame, filters: FieldFilters): string => {
  const { conditions } = frame.words.table
  return filters.map(({ fc, fo, fv }) => `${fc} ${conditions[fo] ?? fo} ${fv}`.trim()).join(", ")
}
