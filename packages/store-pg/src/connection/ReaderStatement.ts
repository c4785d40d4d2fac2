/**
 * The statements of the reader's sessions. Every name is schema-qualified: a customer's schema may be on the search path.
 */

/**
 * Sets everything that a transaction relies on, regardless of the session's state, and of a pooler's changes to its
 * initial settings. Returns the backend's process id.
 */
export const SETTINGS = (settings: Readonly<Record<string, string>>): string => {
  const names = Object.keys(settings)
  const set = names.map(
    (_, index) => `pg_catalog.set_config($${2 * index + 1}::pg_catalog.text, $${2 * index + 2}::pg_catalog.text, true)`,
  )
  return `SELECT ${["pg_catalog.pg_backend_pid()", ...set].join(", ")}`
}

/** The parameter values of `SETTINGS`. */
export const settingsValues = (settings: Readonly<Record<string, string>>): ReadonlyArray<string> =>
  Object.entries(settings).flat()
