/** A database whose time passes only when a test moves it, however long the machine takes. */
import type { TestDatabase } from "./postgres.ts"

const setNow = (run: TestDatabase["run"], moment: string) =>
  run(`DO $do$ BEGIN EXECUTE format('CREATE OR REPLACE FUNCTION cabinet.now() RETURNS timestamptz LANGUAGE sql
    VOLATILE PARALLEL SAFE AS %L', ${moment}); END $do$`)

/** Stops `cabinet.now()`, which `cabinet.clock` still shifts. Returns a function that lets it run again. */
export const stopClock = async (run: TestDatabase["run"]): Promise<() => Promise<unknown>> => {
  await setNow(run, "format('SELECT %L::timestamptz + shift FROM cabinet.clock', clock_timestamp()::text)")
  return () => setNow(run, "'SELECT clock_timestamp() + shift FROM cabinet.clock'")
}
