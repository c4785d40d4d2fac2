/** Counts in words: the plural form that a number needs, and the number with thousands separators. */
import { madeOnce } from "@data-cabinet/core/runtime/MadeOnce"

export type Forms = { readonly other: string } & { readonly [form in Intl.LDMLPluralRule]?: string }

export const plurals = (language: string) => {
  const rules = madeOnce(() => new Intl.PluralRules(language))
  const numbers = madeOnce(() => new Intl.NumberFormat(language))
  return (count: number, forms: Forms): string =>
    `${numbers().format(count)} ${forms[rules().select(count)] ?? forms.other}`
}

/** A whole number with thousands separators. */
export const numbersIn = (language: string) => {
  const numbers = madeOnce(() => new Intl.NumberFormat(language))
  return (value: number): string => numbers().format(value)
}

/** A number with one decimal. */
export const tenthsIn = (language: string) => {
  const numbers = madeOnce(
    () => new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 }),
  )
  return (value: number): string => numbers().format(value)
}
