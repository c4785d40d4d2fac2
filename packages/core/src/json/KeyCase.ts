/** Converts keys between the camel case of programs and the snake case of our JSON documents. */

/** A key in snake case. */
export type Snake<K> = K extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${Snake<Tail>}`
  : K

/** A key in camel case. */
export type Camel<K> = K extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : K

/** `daysAhead` becomes `days_ahead`. */
export const snakeKey = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** `days_ahead` becomes `daysAhead`. */
export const camelKey = (key: string): string => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

const keysBy =
  (convert: (key: string) => string) =>
  (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(keysBy(convert))
    if (typeof value !== "object" || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [convert(key), keysBy(convert)(inner)]))
  }

/** The same value with its keys, at any depth, in snake case. */
export const snakeKeys = keysBy(snakeKey)

/** The same value with its keys, at any depth, in camel case. */
export const camelKeys = keysBy(camelKey)
