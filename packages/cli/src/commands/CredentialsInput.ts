/**
 * The credentials of a bucket or a broker, in the forms in which Amazon's and NATS' own tools have them: a file of
 * `aws_access_key_id = …` lines or `nats_user = …` lines, a `.creds` file, a seed, or the variables of the environment. Never
 * arguments.
 */
import {
  credentialsOf,
  type DestinationCredentials,
  type GivenCredentials,
} from "@data-cabinet/core/destination/DestinationCredentials"
import { isNats } from "@data-cabinet/core/destination/NatsSettings"
import { Effect, Option } from "effect"
import { CommandError } from "../error/CommandError.ts"
import { askHidden, readInput, secretFile } from "./SecretInput.ts"

export const credentialsFile = secretFile(
  "credentials-file",
  "File with lines aws_access_key_id=…, aws_secret_access_key=… and perhaps aws_session_token=…; for a broker nats_user=… and nats_password=…, nats_token=…, or a .creds or .nk file; - for standard input. Default: the environment's variables of these names in capitals, or a prompt for a bucket",
)

type Values = ReadonlyMap<string, string>

const NAMES: Readonly<Record<string, keyof GivenCredentials>> = {
  aws_access_key_id: "accessKeyId",
  aws_secret_access_key: "secretAccessKey",
  aws_session_token: "sessionToken",
  nats_user: "user",
  nats_password: "password",
  nats_token: "token",
  nats_seed: "seed",
  nats_jwt: "jwt",
}

/** Of the variables of tools for the other kind of place, which may be there as well, nothing is read. */
const credentialsIn = (values: Values, prefix = ""): DestinationCredentials | null =>
  credentialsOf(
    Object.fromEntries(
      [...values].flatMap(([name, value]) => (name.startsWith(prefix) && name in NAMES ? [[NAMES[name]!, value]] : [])),
    ),
  )

/** A `.creds` file, or one with a seed alone. */
const natsFile = (text: string): DestinationCredentials | null => {
  const seed = /^SU[A-Z2-7]{56}$/m.exec(text)?.[0]
  const jwt = /-----BEGIN NATS USER JWT-----\r?\n(\S+)/.exec(text)?.[1]
  return seed === undefined ? null : { seed, jwt: jwt ?? null }
}

const refuse = (message: string) => Effect.fail(new CommandError({ code: "refused", message }))

const splitOnce = (line: string): readonly [before: string, after: string] => {
  const at = line.indexOf("=")
  return at === -1 ? ["", ""] : [line.slice(0, at), line.slice(at + 1)]
}

const fromFile = Effect.fnUntraced(function* (file: string) {
  const values = new Map<string, string>()
  const text = yield* readInput(file, "The file with the credentials")
  const nats = natsFile(text)
  if (nats !== null) return nats
  for (const line of text.split(/\r?\n/)) {
    const [before, after] = splitOnce(line)
    const name = before.replace("export ", "").trim().toLowerCase()
    const value = after.trim().replace(/^"|"$/g, "")
    if (!(name in NAMES) || value === "") continue
    if (values.has(name)) {
      return yield* refuse(`The file with the credentials has ${name} twice: give one with a single profile.`)
    }
    values.set(name, value)
  }
  const found = credentialsIn(values)
  return (
    found ??
    (yield* refuse(
      "The file with the credentials lacks aws_access_key_id or aws_secret_access_key; for a broker nats_user and nats_password, nats_token, or a seed.",
    ))
  )
})

const fromEnvironment = (prefix: string): DestinationCredentials | null =>
  credentialsIn(
    new Map(
      Object.entries(process.env).flatMap(([name, value]) =>
        value !== undefined && value !== "" ? [[name.toLowerCase(), value] as const] : [],
      ),
    ),
    prefix,
  )

/** The credentials in the file, if one is given. */
export const givenCredentials = (file: Option.Option<string>) =>
  Option.match(file, { onNone: () => Effect.succeed(undefined), onSome: fromFile })

/** The credentials of a new place: of the file, of the environment, or for a bucket as a person enters them. A broker may need none. */
export const newCredentials = Effect.fnUntraced(function* (location: string, file: Option.Option<string>) {
  const found = (yield* givenCredentials(file)) ?? fromEnvironment(isNats(location) ? "nats_" : "aws_")
  if (found !== null || isNats(location)) return found
  if (!process.stdin.isTTY) {
    const message =
      "A bucket needs credentials: pass --credentials-file FILE, - for standard input, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
    return yield* new CommandError({ code: "usage", message })
  }
  const accessKeyId = (yield* askHidden("The access key")).trim()
  const secretAccessKey = (yield* askHidden("The secret key")).trim()
  return { accessKeyId, secretAccessKey, sessionToken: null } satisfies DestinationCredentials
})
