/** Counts in words: the plural form that a number needs, and the number with thousands separators. */
import { madeOnce } from "@data-cabinet/core/runtime/MadeOnce"

export type Forms = { readonly other: string } & { readonly [form in Intl.LDMLPluralRule]?: string }

/** The form alone, beside a number. */
export const formsIn = (language: string) => {
  const rules = madeOnce(() => new Intl.PluralRules(language))
  return (count: number, forms: Forms): string => forms[rules().select(count)] ?? forms.other
}

export const plurals = (language: string) => {
  const form = formsIn(language)
  const number = numbersIn(language)
  return (count: number, forms: Forms): string => `${number(count)} ${form(count, forms)}`
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
