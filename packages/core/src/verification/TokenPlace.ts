/** Which places of a request a sender's token or signature can be in. */
import { isAlwaysKept, isHeaderName } from "../network/HeaderNames.ts"
import type { Place } from "./Recipe.ts"
import { MAX_FIELD_STEPS } from "./RequestFields.ts"

/** The longest name of a field, in characters. */
export const MAX_FIELD_NAME_LENGTH = 200

// eslint-disable-next-line no-control-regex -- none of them is in a name that can be entered
const CONTROL = /[\0-\x1f\x7f]/

/** Why a token cannot be there, in words; null if it can. */
export const placeMisfit = ({ header, query, field }: Place): string | null => {
  if (header !== undefined) {
    const misfit = headerMisfit(header)
    if (misfit !== null) return misfit
    return isAlwaysKept(header.toLowerCase())
      ? `${header} is kept with each request, so it cannot carry a token.`
      : null
  }
  const name = query ?? field
  if (name === undefined) return "the recipe token needs the place of the token: a header, query or field."
  return query === undefined ? fieldMisfit(name) : nameMisfit(name)
}

/** Why this is not a header's name, in words; null if it is. */
export const headerMisfit = (name: string): string | null =>
  isHeaderName(name) ? null : `${JSON.stringify(name)} is not a header's name.`

const nameMisfit = (name: string): string | null =>
  name.length === 0 || name.length > MAX_FIELD_NAME_LENGTH || CONTROL.test(name) || !name.isWellFormed()
    ? `the name of a field has 1 to ${MAX_FIELD_NAME_LENGTH} characters, and no control characters.`
    : null

/** Why this is not the name of a field, or a path of names; null if it is. */
export const fieldMisfit = (name: string): string | null =>
  nameMisfit(name) ??
  (name.split(".").length > MAX_FIELD_STEPS ? `a path of names has at most ${MAX_FIELD_STEPS} steps.` : null)
