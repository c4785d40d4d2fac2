/**
 * The only place where a name becomes part of SQL text. Values never do: they are parameters. Rejects names that PostgreSQL
 * would truncate or cannot hold, so that a name always denotes the object it spells.
 */

/** PostgreSQL silently truncates names that are longer than this. */
export const MAX_NAME_BYTES = 63

/** True if PostgreSQL can hold the name unchanged. */
export const isSqlName = (name: string): boolean =>
  name !== "" && !name.includes("\0") && name.isWellFormed() && Buffer.byteLength(name) <= MAX_NAME_BYTES

/** `na"me` → `"na""me"`. Throws for a name that `isSqlName` rejects: callers validate names that come from outside. */
export const quoteName = (name: string): string => {
  if (!isSqlName(name))
    throw new RangeError(`Not a name that PostgreSQL can hold: ${JSON.stringify(name.slice(0, 80))}`)
  return `"${name.replaceAll('"', '""')}"`
}

/** `schema.name`, both quoted. */
export const quoteQualified = (schema: string, name: string): string => `${quoteName(schema)}.${quoteName(name)}`
