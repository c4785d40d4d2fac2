/**
 * Fills in what the addresses of the databases leave out: from `DATABASE_CA`, and from the `PG*` variables and files of
 * libpq. Without DATABASE_URL nothing of that counts: the embedded database stays the default.
 */
import { completeAddress, type AddressUse } from "@data-cabinet/store-pg/connection/AddressDefaults"
import { Result } from "effect"
import type { Settings } from "./Settings.ts"

const ADDRESSES: ReadonlyArray<readonly [name: AddressName, use: AddressUse]> = [
  ["databaseUrl", "primary"],
  ["readerUrl", "primary"],
  ["authorUrl", "primary"],
  ["readUrl", "standby"],
]

type AddressName = "databaseUrl" | "readerUrl" | "authorUrl" | "readUrl"

/** The addresses, whole; fails with the setting that cannot be completed and the end of the sentence "it must be …". */
export const completeAddresses = (
  settings: Pick<Settings, AddressName | "databaseCa">,
  env: Readonly<Record<string, string | undefined>>,
): Result.Result<Partial<Record<AddressName, string>>, { readonly name: AddressName; readonly words: string }> => {
  const whole: Partial<Record<AddressName, string>> = {}
  for (const [name, use] of ADDRESSES) {
    const given = settings[name]
    if (given === null) continue
    const read = completeAddress(given, { env, certificates: settings.databaseCa, use })
    if (Result.isFailure(read)) return Result.fail({ name, words: read.failure })
    whole[name] = read.success
  }
  return Result.succeed(whole)
}
