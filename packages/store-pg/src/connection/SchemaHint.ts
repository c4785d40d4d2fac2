/** Helps an author who may not create an object in the schema that the statement names. */
const HINT = "The author creates in public and in schemas of its own: cabinet schema add NAME adds one"

const NOISE = /^(\s|--[^\n]*(\n|$)|\/\*[\s\S]*?\*\/)+/
const CREATES = /^create\s/i
const DENIED = /^permission denied for (schema|database) (.+)$/

/** The text before the columns or the query of a statement. It has the name of the created object. */
const headOf = (statement: string): string => statement.split(/\(|\s(?:as|on)\s/i, 1)[0]!

/**
 * The hint for a statement that PostgreSQL refused with this message; undefined if something else was refused, such as a
 * schema that the statement reads from.
 */
export const schemaHint = (statement: string, state: string | undefined, message: string): string | undefined => {
  const [, kind, name = ""] = state === "42501" ? (DENIED.exec(message) ?? []) : []
  const bare = statement.replace(NOISE, "")
  if (kind === undefined || !CREATES.test(bare)) return undefined
  const head = headOf(bare)
  if (kind === "database") return /^create\s+schema\b/i.test(head) ? HINT : undefined
  const names = (text: string) => text.toLowerCase().replaceAll('"', "").includes(`${name.toLowerCase()}.`)
  return names(head) || !names(bare.slice(head.length)) ? HINT : undefined
}
