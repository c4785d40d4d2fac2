/**
 * The credentials of a bucket, in the forms in which Amazon's own tools have them: a file of `aws_access_key_id = …` lines, or
 * the variables of the environment. Never arguments.
 */
import type { S3Credentials } from "@data-cabinet/core/destination/S3Settings"
import { Effect, Option } from "effect"
import { CommandError } from "../error/CommandError.ts"
import { askHidden, readInput, secretFile } from "./SecretInput.ts"

export const credentialsFile = secretFile(
  "credentials-file",
  "File with lines aws_access_key_id=…, aws_secret_access_key=… and perhaps aws_session_token=…; - for standard input. Default: the environment's AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or a prompt",
)

type Values = ReadonlyMap<string, string>

const credentialsIn = (values: Values): S3Credentials | null => {
  const of = (name: string) => values.get(name)
  const [accessKeyId, secretAccessKey] = [of("aws_access_key_id"), of("aws_secret_access_key")]
  if (accessKeyId === undefined || secretAccessKey === undefined) return null
  return { accessKeyId, secretAccessKey, sessionToken: of("aws_session_token") ?? null }
}

const refuse = (message: string) => Effect.fail(new CommandError({ code: "refused", message }))

const splitOnce = (line: string): readonly [before: string, after: string] => {
  const at = line.indexOf("=")
  return at === -1 ? ["", ""] : [line.slice(0, at), line.slice(at + 1)]
}

const fromFile = Effect.fnUntraced(function* (file: string) {
  const values = new Map<string, string>()
  const text = yield* readInput(file, "The file with the credentials")
  for (const line of text.split(/\r?\n/)) {
    const [before, after] = splitOnce(line)
    const name = before.replace("export ", "").trim().toLowerCase()
    const value = after.trim().replace(/^"|"$/g, "")
    if (!name.startsWith("aws_") || value === "") continue
    if (values.has(name)) {
      return yield* refuse(`The file with the credentials has ${name} twice: give one with a single profile.`)
    }
    values.set(name, value)
  }
  const found = credentialsIn(values)
  return found ?? (yield* refuse("The file with the credentials lacks aws_access_key_id or aws_secret_access_key."))
})

const fromEnvironment = (): S3Credentials | null =>
  credentialsIn(
    new Map(
      Object.entries(process.env).flatMap(([name, value]) =>
        name.startsWith("AWS_") && value !== undefined && value !== "" ? [[name.toLowerCase(), value] as const] : [],
      ),
    ),
  )

/** The credentials in the file, if one is given. */
export const givenCredentials = (file: Option.Option<string>) =>
  Option.match(file, { onNone: () => Effect.succeed(undefined), onSome: fromFile })

/** The credentials of a new bucket: of the file, of the environment, or as a person enters them. */
export const newCredentials = Effect.fnUntraced(function* (file: Option.Option<string>) {
  const found = (yield* givenCredentials(file)) ?? fromEnvironment()
  if (found !== null) return found
  if (!process.stdin.isTTY) {
    const message =
      "A bucket needs credentials: pass --credentials-file FILE, - for standard input, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
    return yield* new CommandError({ code: "usage", message })
  }
  const accessKeyId = (yield* askHidden("The access key")).trim()
  const secretAccessKey = (yield* askHidden("The secret key")).trim()
  return { accessKeyId, secretAccessKey, sessionToken: null } satisfies S3Credentials
})
