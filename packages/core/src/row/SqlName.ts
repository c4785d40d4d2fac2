/**
 * The one place where a name becomes part of SQL text. Values never do: they are parameters. Refuses what PostgreSQL
 * would cut or could not hold, so that a name always means the object it says.
 */

/** PostgreSQL keeps names of at most this many bytes and silently cuts longer ones. */
export const MAX_NAME_BYTES = 63

/** True when PostgreSQL can hold the name as it is. */
export const isSqlName = (name: string): boolean =>
  name !== "" && !name.includes("\0") && name.isWellFormed() && Buffer.byteLength(name) <= MAX_NAME_BYTES

/** `na"me` → `"na""me"`. Throws on a name that `isSqlName` refuses: callers check names that come from outside. */
export const quoteName = (name: string): string => {
  if (!isSqlName(name))
    throw new RangeError(`Not a name that PostgreSQL can hold: ${JSON.stringify(name.slice(0, 80))}`)
  return `"${name.replaceAll('"', '""')}"`
}

/** `schema.name`, both quoted. */
export const quoteQualified = (schema: string, name: string): string => `${quoteName(schema)}.${quoteName(name)}`
