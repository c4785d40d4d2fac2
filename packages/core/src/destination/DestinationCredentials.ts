/** The credentials of destinations, of whatever kind. */
import { isNats, type NatsCredentials, natsCredentialsRefusal } from "./NatsSettings.ts"
import { credentialsRefusal, type S3Credentials } from "./S3Settings.ts"

/** The credentials of a bucket or of a broker. */
export type DestinationCredentials = S3Credentials | NatsCredentials

/** Credentials as bodies, files and the environment have them: the members of one kind. */
export interface GivenCredentials {
  readonly accessKeyId?: string
  readonly secretAccessKey?: string
  readonly sessionToken?: string | null
  readonly user?: string
  readonly password?: string
  readonly token?: string
  readonly seed?: string
  readonly jwt?: string | null
}

/** The members of each kind, those that may be missing last. */
const KINDS = [
  { needed: ["accessKeyId", "secretAccessKey"], optional: "sessionToken" },
  { needed: ["user", "password"] },
  { needed: ["token"] },
  { needed: ["seed"], optional: "jwt" },
] as const

/** What credentials are, for people. */
export const CREDENTIALS_EXPECTED =
  "Give the credentials of one kind: an access key and its secret key for a bucket; for a broker a user and a password, a token, or a seed, perhaps with a JWT."

/** The credentials of the only kind that is given completely; null if that is not so. */
export const credentialsOf = (given: GivenCredentials): DestinationCredentials | null => {
  const present = (key: keyof GivenCredentials) => (given[key] ?? null) !== null
  const found = KINDS.filter(({ needed }) => needed.some(present))
  const [kind] = found
  if (found.length !== 1 || kind === undefined || !kind.needed.every(present)) return null
  const optional = "optional" in kind ? [[kind.optional, given[kind.optional] ?? null]] : []
  return Object.fromEntries([...kind.needed.map((key) => [key, given[key]]), ...optional]) as DestinationCredentials
}

/** Whether these are the credentials of a bucket. */
export const areOfS3 = (credentials: DestinationCredentials): credentials is S3Credentials =>
  "accessKeyId" in credentials

/** Why credentials cannot be used at this location, in words that have no part of them; null if they can. */
export const unfitCredentials = (location: string, credentials: DestinationCredentials): string | null => {
  if (areOfS3(credentials)) {
    return isNats(location) ? "A broker has no access keys. " + CREDENTIALS_EXPECTED : credentialsRefusal(credentials)
  }
  return isNats(location) ? natsCredentialsRefusal(credentials) : "A bucket has access keys. " + CREDENTIALS_EXPECTED
}
