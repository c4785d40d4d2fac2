/**
 * A separate database for a test file, cloned from the migrated template in a few tens of milliseconds:
 * `const database = withDatabase()`.
 */
import { inspect } from "node:util"
import type { Launcher } from "@data-cabinet/store-pg/embedded/Unprivileged"
import { afterAll, beforeAll, inject } from "vitest"
import { databaseUrl, keptSession, ownerRole, runSql, superuser, templateDatabase } from "./postgresAdmin.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** Directory of the test cluster's unix socket. */
    postgresSocketDir: string
    /** Major version of the test cluster. */
    postgresMajor: number
    /** The launcher that runs PostgreSQL here. */
    postgresLauncher: Launcher["name"]
  }
}

export interface TestDatabase {
  readonly name: string
  /** The URL of the owner, who is not a superuser, but may create roles and databases. */
  readonly url: string
  /** The URL of the superuser, for what only the machine's operator can do. */
  readonly superuserUrl: string
  /** The URL of another role that the test created; the server trusts every login over the socket. */
  readonly urlAs: (role: string) => string
  readonly socketDir: string
  /** Runs one statement as the superuser. */
  readonly run: (statement: string) => Promise<ReadonlyArray<Record<string, unknown>>>
  /** Ends all sessions of the database and drops it. */
  readonly drop: () => Promise<void>
}

/** Clones the template; with `{ empty: true }` the database has no schema. */
export const testDatabase = async (options: { readonly empty?: boolean } = {}): Promise<TestDatabase> => {
  const socketDir = inject("postgresSocketDir")
  const admin = databaseUrl(socketDir, superuser, "postgres")
  const name = `test_${process.pid}_${Date.now().toString(36)}_${(made += 1)}`
  const template = options.empty === true ? "template0" : templateDatabase
  // Copying the files costs a third of writing every page to the log.
  await runSql(admin, `CREATE DATABASE ${name} OWNER ${ownerRole} TEMPLATE ${template} STRATEGY file_copy`)
  const superuserUrl = databaseUrl(socketDir, superuser, name)
  const kept = keptSession(superuserUrl)
  return {
    name,
    url: databaseUrl(socketDir, ownerRole, name),
    superuserUrl,
    urlAs: (role) => databaseUrl(socketDir, role, name),
    socketDir,
    run: kept.run,
    drop: async () => {
      await kept.end()
      await dropDatabase(admin, name)
    },
  }
}

/** PostgreSQL waits five seconds for sessions that it has ended, which a busy machine may not have ended by then. */
const dropDatabase = async (admin: string, name: string): Promise<void> => {
  for (let tries = 1; ; tries++) {
    try {
      await runSql(admin, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
      return
    } catch (error) {
      if (tries === 20 || !/being accessed by other users/.test(inspect(error, { depth: 9 }))) throw error
    }
  }
}

let made = 0

/**
 * A database for all tests of a file. It is created before later hooks run, and dropped after they have cleaned up. Use it
 * in hooks and tests, not while the file is loaded.
 */
export const withDatabase = (options: { readonly empty?: boolean } = {}): TestDatabase => {
  let database: TestDatabase | undefined
  beforeAll(async () => {
    database = await testDatabase(options)
  })
  afterAll(() => database?.drop())
  return new Proxy({} as TestDatabase, {
    get: (_, property) => {
      if (database === undefined)
        throw new Error("The test database is created before the first test, not at load time")
      return Reflect.get(database, property) as unknown
    },
  })
}

/** The major version of PostgreSQL that the tests run on. */
export const postgresMajor = (): number => inject("postgresMajor")
