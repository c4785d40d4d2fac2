/** The settings that the flags of a call give. Passwords are refused: other users of the machine can read arguments. */
import { Effect, Option } from "effect"
import { type SettingName, SETTINGS } from "../settings/Settings.ts"
import { CommandError } from "../error/CommandError.ts"

type GivenFlags = { readonly [Name in SettingName]?: Option.Option<string> }

/** The values of flags: the command's own and those of `cabinet` itself. */
export const givenBy = (place: GivenFlags, own: GivenFlags = {}) => {
  const given: { [Name in SettingName]?: string | undefined } = {}
  for (const [name, value] of Object.entries({ ...own, ...place })) {
    if (Option.isOption(value)) given[name as SettingName] = Option.getOrUndefined(value)
  }
  return given
}

/** Database URLs may hold a password, which does not belong in arguments. */
export const refusePasswords = (given: ReturnType<typeof givenBy>) =>
  Effect.gen(function* () {
    for (const name of ["databaseUrl", "readUrl", "readerUrl", "authorUrl"] as const) {
      const { flag, env } = SETTINGS[name]
      if (!holdsPassword(given[name])) continue
      const message = `--${flag} holds a password, which every user of this machine can read in the process list. Set the environment variable ${env} instead.`
      return yield* new CommandError({ code: "usage", message })
    }
  })

/** Whether this database URL holds a password. */
export const holdsPassword = (address: string | undefined): boolean => {
  const url = address === undefined ? null : URL.parse(address)
  return url !== null && (url.password !== "" || (url.searchParams.get("password") ?? "") !== "")
}

/** The flags of a command that are settings. */
export const ownSettings = (own: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(own).filter(([name]) => name in SETTINGS)) as GivenFlags
