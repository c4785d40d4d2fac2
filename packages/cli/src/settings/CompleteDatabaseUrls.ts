/**
 * Fills in the missing parts of the database URLs: from `DATABASE_CA`, and from the `PG*` variables and files of libpq.
 * Without DATABASE_URL none of them counts: the embedded database stays the default.
 */
import { completeDatabaseUrl, type DatabaseUse } from "@data-cabinet/store-pg/connection/DatabaseUrlDefaults"
import { Result } from "effect"
import type { Settings } from "./Settings.ts"

const DATABASE_URLS: ReadonlyArray<readonly [name: DatabaseUrlName, use: DatabaseUse]> = [
  ["databaseUrl", "primary"],
  ["readerUrl", "primary"],
  ["authorUrl", "primary"],
  ["readUrl", "standby"],
]

type DatabaseUrlName = "databaseUrl" | "readerUrl" | "authorUrl" | "readUrl"

/** The URLs, whole; fails with the setting that cannot be completed and the end of the sentence "it must be …". */
export const completeDatabaseUrls = (
  settings: Pick<Settings, DatabaseUrlName | "databaseCa">,
  env: Readonly<Record<string, string | undefined>>,
): Result.Result<
  Partial<Record<DatabaseUrlName, string>>,
  { readonly name: DatabaseUrlName; readonly words: string }
> => {
  const whole: Partial<Record<DatabaseUrlName, string>> = {}
  for (const [name, use] of DATABASE_URLS) {
    const given = settings[name]
    if (given === null) continue
    const read = completeDatabaseUrl(given, { env, certificates: settings.databaseCa, use })
    if (Result.isFailure(read)) return Result.fail({ name, words: read.failure })
    whole[name] = read.success
  }
  return Result.succeed(whole)
}
