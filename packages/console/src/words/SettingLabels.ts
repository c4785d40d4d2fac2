/** How the labels of declared settings are written, in both languages side by side, and what a screen gets of them. */

/** In both languages. */
export interface Labels {
  readonly english: string
  readonly russian: string
}

interface AllLabels extends Labels {
  /** What null means. */
  readonly none?: Labels
  /** Of the values that are words; the others are shown as they are. */
  readonly values?: Readonly<Record<string, Labels>>
  /** Below its field. */
  readonly hint?: Labels
}

/** Of a value with parts, the labels of its parts. */
interface PartLabels extends Pick<AllLabels, "hint"> {
  readonly parts: Readonly<Record<string, AllLabels>>
}

/** A setting that is chosen from a list also names its null. */
export type LabelsOf<D> = {
  readonly [K in keyof D]: D[K] extends { readonly input: { readonly of: { readonly declared: infer Parts } } }
    ? PartLabels & { readonly parts: LabelsOf<Parts> }
    : D[K] extends { readonly input: { readonly kind: "choice" }; readonly default: null }
      ? AllLabels & { readonly none: Labels }
      : AllLabels
}

/** The labels of an object's settings in one language. */
export interface SettingWords<K extends PropertyKey> {
  readonly label: Readonly<Record<K, string>>
  readonly none: Readonly<Partial<Record<K, string>>>
  readonly values: Readonly<Partial<Record<K, Readonly<Record<string, string>>>>>
  readonly hint: Readonly<Partial<Record<K, string>>>
  readonly parts: Readonly<Partial<Record<K, SettingWords<string>>>>
}

/** Those of one language. */
export const inLanguage = <K extends string>(
  labels: Readonly<Record<K, AllLabels | PartLabels>>,
  language: keyof Labels,
): SettingWords<K> => {
  const byKey = <A>(of: (labels: Partial<AllLabels & PartLabels>) => A | undefined) =>
    Object.fromEntries(
      Object.entries<AllLabels | PartLabels>(labels).flatMap(([key, one]) => {
        const value = of(one)
        return value === undefined ? [] : [[key, value] as const]
      }),
    ) as Partial<Record<K, A>>
  return {
    label: byKey((one) => one[language]) as Record<K, string>,
    none: byKey(({ none }) => none?.[language]),
    values: byKey(
      ({ values }) =>
        values && Object.fromEntries(Object.entries(values).map(([value, one]) => [value, one[language]])),
    ),
    hint: byKey(({ hint }) => hint?.[language]),
    parts: byKey(({ parts }) => parts && inLanguage<string>(parts, language)),
  }
}
