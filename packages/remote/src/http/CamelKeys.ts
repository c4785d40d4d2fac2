/** Converts the keys of the API's JSON documents to those of the program's objects. */

/** The same value with `days_ahead` as `daysAhead`: the reverse of core's `snakeKeys`. */
export const camelKeys = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(camelKeys)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      camelKeys(inner),
    ]),
  )
}
