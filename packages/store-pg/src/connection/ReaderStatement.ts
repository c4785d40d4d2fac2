/** The statements of the reader's sessions. Every name bears its schema: a customer's may lie on the search path. */

/**
 * Sets what a transaction relies on, whatever the session was left with, and whatever became of what it was opened with on
 * its way through a pooler. Answers the backend's process id.
 */
export const SETTINGS = (settings: Readonly<Record<string, string>>): string => {
  const names = Object.keys(settings)
  const set = names.map(
    (_, index) => `pg_catalog.set_config($${2 * index + 1}::pg_catalog.text, $${2 * index + 2}::pg_catalog.text, true)`,
  )
  return `SELECT ${["pg_catalog.pg_backend_pid()", ...set].join(", ")}`
}

/** The values of `SETTINGS`. */
export const settingsValues = (settings: Readonly<Record<string, string>>): ReadonlyArray<string> =>
  Object.entries(settings).flat()

/**
 * $1: the process id; $2: the reader's role. True in one row where there was such a backend and it was told to end. It is
 * told in the list of what is selected, which is done for the found row alone.
 */
export const END_SESSION = `
  SELECT pg_catalog.pg_terminate_backend(a.pid) AS ended FROM pg_catalog.pg_stat_activity a
  WHERE a.pid OPERATOR(pg_catalog.=) $1::pg_catalog.int4 AND a.usename OPERATOR(pg_catalog.=) $2::pg_catalog.name
    AND a.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()`
