/** The flags of a source's verification. The secret comes from a file, standard input or a prompt. */
import { HMAC_ALGORITHMS, type HmacParameters, SIGNATURE_ENCODINGS } from "@data-cabinet/core/verification/Recipe"
import { RECIPE_NAMES, type RecipeName } from "@data-cabinet/core/verification/Recipes"
import {
  placeOf,
  VERIFICATION_MODES,
  type VerificationChange,
  type VerificationMode,
} from "@data-cabinet/core/verification/Verification"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { CommandError } from "./CommandError.ts"
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
    "File with the secret that the sender signs with; - for standard input or a prompt",
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
    "With --verify token: the field of the body that carries the token; in JSON also a path with dots",
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
    "With --verify hmac: the header with the Unix time that is signed as TIME.BODY; none if only the body is signed",
  ),
  verifyTolerance: Flag.Int("verify-tolerance").pipe(
    Flag.withMetavar("SECONDS"),
    Flag.withDescription("With --verify hmac: the largest accepted difference to the current time; default: 300"),
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
  readonly verifyTimestampHeader: Option.Option<string>
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
    const isSignature = recipe === "hmac" || parameters !== undefined
    const hmac = isSignature && header !== undefined ? { header, ...parameters } : parameters
    const place = placeOf({
      header: isSignature ? undefined : header,
      query: Option.getOrUndefined(input.verifyQuery),
      field: Option.getOrUndefined(input.verifyField),
    })
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
  if (process.stdin.isTTY) return askHidden("The sender's secret")
  const message = "--verify needs the sender's secret: pass --verify-secret-file FILE, or - for standard input."
  return Effect.fail(new CommandError({ code: "usage", message }))
}

/** The parameters besides the header; undefined if none was given. */
const parametersOf = (input: VerifyFlags): Partial<HmacParameters> | undefined => {
  const timestampHeader = Option.getOrUndefined(input.verifyTimestampHeader)
  const given = {
    algorithm: Option.getOrUndefined(input.verifyAlgorithm),
    encoding: Option.getOrUndefined(input.verifyEncoding),
    prefix: Option.getOrUndefined(input.verifyPrefix),
    timestampHeader: timestampHeader === "none" ? null : timestampHeader,
    toleranceSeconds: Option.getOrUndefined(input.verifyTolerance),
  }
  const set = Object.entries(given).filter(([, value]) => value !== undefined)
  return set.length === 0 ? undefined : (Object.fromEntries(set) as Partial<HmacParameters>)
}
