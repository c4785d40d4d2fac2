/** The flags of a source's verification. The secret comes from a file, standard input or a prompt. */
import {
  HMAC_ALGORITHMS,
  type HmacChange,
  type HmacParameters,
  SIGNATURE_ENCODINGS,
} from "@data-cabinet/core/verification/Recipe"
import { RECIPE_NAMES, type RecipeName } from "@data-cabinet/core/verification/Recipes"
import {
  placeOf,
  VERIFICATION_MODES,
  type VerificationChange,
  type VerificationMode,
} from "@data-cabinet/core/verification/Verification"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { CommandError } from "../error/CommandError.ts"
import { askHidden, readSecretLine, secretFile } from "./SecretInput.ts"

const named = (flag: string, metavar: string, about: string) =>
  Flag.String(flag).pipe(Flag.withMetavar(metavar), Flag.withDescription(about), Flag.optional)

export const verifyFlags = {
  verify: Flag.Literals("verify", [...RECIPE_NAMES, "none"]).pipe(
    Flag.withDescription(
      "Accept only requests signed by this sender, by its recipe; none to accept any request to the address",
    ),
    Flag.optional,
  ),
  verifyMode: Flag.Literals("verify-mode", VERIFICATION_MODES).pipe(
    Flag.withDescription(
      "What to do with other requests: reject (default), or mark: keep their events as unverified and do not deliver them",
    ),
    Flag.optional,
  ),
  verifySecretFile: secretFile(
    "verify-secret-file",
    "File with the secret that the sender signs with, for sns the ARN of the topic; - for standard input or a prompt",
  ),
  verifyOld: Flag.Literals("verify-old", ["keep", "drop"]).pipe(
    Flag.withDescription(
      "With a new secret: keep the previous one valid as well, or drop it (default). Without: drop the kept one",
    ),
    Flag.optional,
  ),
  verifyHeader: named(
    "verify-header",
    "NAME",
    "With --verify hmac or token: the header that carries the signature or the token",
  ),
  verifyQuery: named("verify-query", "NAME", "With --verify token: the parameter of the query that carries the token"),
  verifyField: named(
    "verify-field",
    "NAME",
    "With --verify hmac or token: the field of the body that carries the signature or the token; in JSON also a path with dots",
  ),
  verifyValue: named(
    "verify-value",
    "PATTERN",
    "With --verify hmac: how the header is written, such as t={timestamp},v1={signature}; none for the default",
  ),
  verifySigned: named(
    "verify-signed",
    "PATTERN",
    "With --verify hmac: what is signed, of {body}, {timestamp}, {id}, {url} and {field:NAME}, such as {timestamp}.{body}; none for the default",
  ),
  verifyAlgorithm: Flag.Literals("verify-algorithm", HMAC_ALGORITHMS).pipe(
    Flag.withDescription("With --verify hmac: the hash function; default: sha256"),
    Flag.optional,
  ),
  verifyEncoding: Flag.Literals("verify-encoding", SIGNATURE_ENCODINGS).pipe(
    Flag.withDescription("With --verify hmac: the encoding of the signature; default: hex"),
    Flag.optional,
  ),
  verifyPrefix: named("verify-prefix", "TEXT", "With --verify hmac: the prefix of the signature, such as sha256="),
  verifyTimestampHeader: named(
    "verify-timestamp-header",
    "NAME",
    "With --verify hmac: the header with the signed time, by default signed as TIME.BODY; none if no header has it",
  ),
  verifyTimestampField: named(
    "verify-timestamp-field",
    "NAME",
    "With --verify hmac: the field of the body with the signed time; none if no field has it",
  ),
  verifyIdHeader: named(
    "verify-id-header",
    "NAME",
    "With --verify hmac: the header with the signed number of the message; none if no header has it",
  ),
  verifyTolerance: Flag.Int("verify-tolerance").pipe(
    Flag.withMetavar("SECONDS"),
    Flag.withDescription("With --verify hmac: the largest accepted difference from the current time; default: 300"),
    Flag.optional,
  ),
}

export interface VerifyFlags {
  readonly verify: Option.Option<RecipeName | "none">
  readonly verifyMode: Option.Option<VerificationMode>
  readonly verifySecretFile: Option.Option<string>
  readonly verifyOld: Option.Option<"keep" | "drop">
  readonly verifyHeader: Option.Option<string>
  readonly verifyQuery: Option.Option<string>
  readonly verifyField: Option.Option<string>
  readonly verifyAlgorithm: Option.Option<HmacParameters["algorithm"]>
  readonly verifyEncoding: Option.Option<HmacParameters["encoding"]>
  readonly verifyPrefix: Option.Option<string>
  readonly verifyValue: Option.Option<string>
  readonly verifySigned: Option.Option<string>
  readonly verifyTimestampHeader: Option.Option<string>
  readonly verifyTimestampField: Option.Option<string>
  readonly verifyIdHeader: Option.Option<string>
  readonly verifyTolerance: Option.Option<number>
}

/**
 * Undefined if no flag was given; null to end verification. Prompts for the secret if a recipe is given without a file.
 */
export const readVerification = (
  input: VerifyFlags,
): Effect.Effect<VerificationChange | null | undefined, CommandError, PromptServices> =>
  Effect.gen(function* () {
    const recipe = Option.getOrUndefined(input.verify)
    const parameters = parametersOf(input)
    const header = Option.getOrUndefined(input.verifyHeader)
    const field = Option.getOrUndefined(input.verifyField)
    const isSignature = recipe === "hmac" || parameters !== undefined
    const signature = isSignature ? placeOf({ header, query: undefined, field }) : {}
    const isChanged = parameters !== undefined || Object.keys(signature).length > 0
    const hmac = isChanged ? { ...signature, ...parameters } : undefined
    const query = Option.getOrUndefined(input.verifyQuery)
    const place = placeOf(isSignature ? { header: undefined, query, field: undefined } : { header, query, field })
    const isPlaced = Object.keys(place).length > 0
    const old = Option.getOrUndefined(input.verifyOld)
    const mode = Option.getOrUndefined(input.verifyMode)
    if (recipe === "none") {
      const isAlone = hmac === undefined && !isPlaced && old === undefined && mode === undefined
      if (isAlone && Option.isNone(input.verifySecretFile)) return null
      const message = "--verify none ends the verification: give none of its other flags."
      return yield* new CommandError({ code: "usage", message })
    }
    const secret = yield* readSecret(input)
    const change: VerificationChange = {
      ...(recipe === undefined ? {} : { recipe }),
      ...(mode === undefined ? {} : { mode }),
      ...(secret === undefined ? {} : { secret }),
      ...(old === undefined ? {} : { keepOldSecret: old === "keep" }),
      ...place,
      ...(hmac === undefined ? {} : { hmac }),
    }
    return Object.keys(change).length === 0 ? undefined : change
  })

type PromptServices = Effect.Services<ReturnType<typeof askHidden>>

const readSecret = ({ verify, verifySecretFile: file }: VerifyFlags) => {
  if (Option.isSome(file)) return readSecretLine(file.value, "The sender's secret")
  if (Option.isNone(verify)) return Effect.succeed(undefined)
  const needed = verify.value === "sns" ? "the ARN of the topic" : "the sender's secret"
  if (process.stdin.isTTY) return askHidden(needed.replace(/^t/, "T"))
  const message = `--verify needs ${needed}: pass --verify-secret-file FILE, or - for standard input.`
  return Effect.fail(new CommandError({ code: "usage", message }))
}

/** The parameters besides the place of the signature; undefined if none was given. */
const parametersOf = (input: VerifyFlags): HmacChange | undefined => {
  const given = {
    algorithm: Option.getOrUndefined(input.verifyAlgorithm),
    encoding: Option.getOrUndefined(input.verifyEncoding),
    prefix: Option.getOrUndefined(input.verifyPrefix),
    value: orNone(input.verifyValue),
    signed: orNone(input.verifySigned),
    timestampHeader: orNone(input.verifyTimestampHeader),
    timestampField: orNone(input.verifyTimestampField),
    idHeader: orNone(input.verifyIdHeader),
    toleranceSeconds: Option.getOrUndefined(input.verifyTolerance),
  }
  const set = Object.entries(given).filter(([, value]) => value !== undefined)
  return set.length === 0 ? undefined : (Object.fromEntries(set) as HmacChange)
}

const orNone = (flag: Option.Option<string>): string | null | undefined => {
  const given = Option.getOrUndefined(flag)
  return given === "none" ? null : given
}
