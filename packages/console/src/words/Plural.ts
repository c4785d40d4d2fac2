/** Counts in words: the form of a noun that a number asks for, and the number with its thousands apart. */

export type Forms = { readonly other: string } & { readonly [form in Intl.LDMLPluralRule]?: string }

export const plurals = (language: string) => {
  const rules = new Intl.PluralRules(language)
  const numbers = new Intl.NumberFormat(language)
  return (count: number, forms: Forms): string =>
    `${numbers.format(count)} ${forms[rules.select(count)] ?? forms.other}`
}
