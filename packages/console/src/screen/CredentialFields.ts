/**
 * The fields of the credentials of destinations in forms. Their values are accepted, and neither shown nor kept, also in a form that was
 * refused. Every form of the console needs to know which of its fields are such.
 */
import {
  CREDENTIALS_EXPECTED,
  credentialsOf,
  type DestinationCredentials,
  type GivenCredentials,
} from "@data-cabinet/core/destination/DestinationCredentials"
import { isNats } from "@data-cabinet/core/destination/NatsSettings"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { Effect } from "effect"
import type { Pairs } from "./ConsoleScreen.ts"

/** The fields of a bucket's credentials: name, member, and the most characters. */
export const OF_BUCKET = [
  ["access_key_id", "accessKeyId", 128],
  ["secret_access_key", "secretAccessKey", 256],
  ["session_token", "sessionToken", 8192],
] as const
/** The same of brokers. */
export const OF_BROKERS = [
  ["user", "user", 256],
  ["password", "password", 1024],
  ["token", "token", 1024],
  ["seed", "seed", 58],
  ["jwt", "jwt", 8192],
] as const

/** One of them. */
export type CredentialField = (typeof OF_BUCKET | typeof OF_BROKERS)[number]

const ALL: ReadonlyArray<CredentialField> = [...OF_BUCKET, ...OF_BROKERS]

/** Those whose values are never shown again: all but the name of a user. */
export const CREDENTIAL_FIELDS: ReadonlyArray<string> = ALL.map(([name]) => name).filter((name) => name !== "user")

/** The field at which a refusal of credentials is shown. */
export const credentialField = (location: string): string => (isNats(location) ? "user" : "access_key_id")

/** The credentials in a sent form; undefined if none were typed. */
export const credentialsIn = (
  form: Pairs,
  location: string,
): Effect.Effect<DestinationCredentials | undefined, ManageError> => {
  const keys = new Map<string, string>(ALL.map(([name, key]) => [name, key]))
  const typed = form.flatMap(([name, value]) => {
    const key = keys.get(name)
    return key === undefined || value.trim() === "" ? [] : [[key, value.trim()] as const]
  })
  if (typed.length === 0) return Effect.succeed(undefined)
  const read = credentialsOf(Object.fromEntries(typed) as GivenCredentials)
  return read === null
    ? Effect.fail({ code: "bad_credentials", message: CREDENTIALS_EXPECTED, param: credentialField(location) })
    : Effect.succeed(read)
}
