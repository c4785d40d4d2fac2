/** The filter of an address in a form: one line for each condition, and an empty one for another. */
import type { FieldFilter, FieldFilters } from "@data-cabinet/core/delivery/FieldFilter"
import { FILTER_CONDITIONS } from "@data-cabinet/core/selection/Selection"
import { Html, markup } from "@data-cabinet/http-node/html/Html"
import type { Frame } from "../html/Shell.ts"
import type { FormCall, Pairs } from "../screen/ConsoleScreen.ts"
import { valuesOf } from "../screen/SelectionLinks.ts"
import { NAMES_LIST } from "./KnownPaths.ts"

const NEW: FieldFilter = { fc: "", fo: "eq", fv: "" }

const line = (frame: Frame, { fc, fo, fv }: FieldFilter): Html => {
  const { integration: words, table } = frame.words
  return markup`<div class="filter"><input name="fc" value="${fc}" aria-label="${words.field}" placeholder="${words.field}" list="${NAMES_LIST}" autocomplete="off">
<select name="fo" aria-label="${table.condition}">${FILTER_CONDITIONS.map(
    (condition) =>
      markup`<option value="${condition}"${condition === fo && new Html(" selected")}>${table.conditions[condition] ?? condition}</option>`,
  )}</select>
<input name="fv" value="${fv}" aria-label="${table.value}" placeholder="${table.value}" autocomplete="off"></div>`
}

interface FilterWords {
  readonly legend: string
  readonly hint: string
}

/** The words are those of an address by default. */
export const filterChoice = (frame: Frame, filters: FieldFilters, given?: FilterWords): Html => {
  const { onlyWhere, onlyWhereHint } = frame.words.integration
  const { legend, hint } = given ?? { legend: onlyWhere, hint: onlyWhereHint }
  return markup`<fieldset><legend>${legend}</legend>${[...filters, NEW].map((filter) => line(frame, filter))}<small>${hint}</small></fieldset>`
}

/** Lines without a field and a value are skipped. The use case refuses invalid conditions. */
export const filtersIn = (pairs: Pairs): FieldFilters => {
  const conditions = valuesOf(pairs, "fo")
  const values = valuesOf(pairs, "fv")
  return valuesOf(pairs, "fc")
    .map((fc, at) => ({ fc, fo: conditions[at] as FieldFilter["fo"], fv: values[at] ?? "" }))
    .filter(({ fc, fv }) => fc !== "" || fv !== "")
}

/** A form without lines sets nothing. */
export const filtersOf = ({ form }: FormCall): { readonly filters?: FieldFilters } =>
  valuesOf(form, "fc").length === 0 ? {} : { filters: filtersIn(form) }

/** The conditions in words. */
export const filterText = (frame: Frame, filters: FieldFilters): string => {
  const { conditions } = frame.words.table
  return filters.map(({ fc, fo, fv }) => `${fc} ${conditions[fo] ?? fo} ${fv}`.trim()).join(", ")
}
