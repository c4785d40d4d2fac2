/**
 * A database of its own for a test file, cloned from the migrated template in a few tens of milliseconds:
 * `const database = withDatabase()`.
 */
import type { Launcher } from "@data-cabinet/store-pg/embedded/Unprivileged"
import { afterAll, beforeAll, inject } from "vitest"
import { databaseUrl, ownerRole, runSql, superuser, templateDatabase } from "./postgresAdmin.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** Directory of the test cluster's unix socket. */
    postgresSocketDir: string
    /** Major version of the test cluster. */
    postgresMajor: number
    /** By which of its launchers PostgreSQL runs here. */
    postgresLauncher: Launcher["name"]
  }
}

export interface TestDatabase {
  readonly name: string
  /** As the owner, who is no superuser but may make roles and databases. */
  readonly url: string
  /** As the superuser, for what only an operator of the machine can do. */
  readonly superuserUrl: string
  /** As another role that the test made; every login over the socket is trusted. */
  readonly urlAs: (role: string) => string
  readonly socketDir: string
  /** One statement as the superuser. */
  readonly run: (statement: string) => Promise<ReadonlyArray<Record<string, unknown>>>
  /** Ends all its sessions and removes it. */
  readonly drop: () => Promise<void>
}

/** Clones the template; `{ empty: true }` gives a database without the schema. */
export const testDatabase = async (options: { readonly empty?: boolean } = {}): Promise<TestDatabase> => {
  const socketDir = inject("postgresSocketDir")
  const admin = databaseUrl(socketDir, superuser, "postgres")
  const name = `test_${process.pid}_${Date.now().toString(36)}_${(made += 1)}`
  const template = options.empty === true ? "template0" : templateDatabase
  await runSql(admin, `CREATE DATABASE ${name} OWNER ${ownerRole} TEMPLATE ${template}`)
  const superuserUrl = databaseUrl(socketDir, superuser, name)
  return {
    name,
    url: databaseUrl(socketDir, ownerRole, name),
    superuserUrl,
    urlAs: (role) => databaseUrl(socketDir, role, name),
    socketDir,
    run: (statement) => runSql(superuserUrl, statement),
    drop: () => runSql(admin, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`).then(() => undefined),
  }
}

let made = 0

/**
 * A database for all tests of a file: it exists before the hooks that follow, and is dropped after they have cleaned up.
 * What it is can be asked in hooks and tests, not while the file is loaded.
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

/** Major version of the PostgreSQL that the tests run on. */
export const postgresMajor = (): number => inject("postgresMajor")
