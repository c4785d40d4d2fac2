/** What deliveries carry: `--body KIND`, with `--body-file`, `--body-method` and `--body-type` for a template or a form. */
import {
  BODY_KINDS,
  BODY_METHODS,
  type BodyChoice,
  type BodyKind,
  type BodyMethod,
} from "@data-cabinet/core/delivery/BodySetting"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { CommandError } from "../error/CommandError.ts"
import { readInput } from "./SecretInput.ts"

export const bodyFlags = {
  body: Flag.Literals("body", BODY_KINDS).pipe(
    Flag.withDescription("What deliveries carry: our own body (default), or one that a receiver takes"),
    Flag.optional,
  ),
  bodyFile: Flag.String("body-file").pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription(
      "File with a template: JSON with placeholders such as {{payload.name}}; without --body it is sent as JSON. - for standard input",
    ),
    Flag.optional,
  ),
  bodyMethod: Flag.Literals("body-method", BODY_METHODS).pipe(
    Flag.withDescription("With a template or a form: the method; default: POST"),
    Flag.optional,
  ),
  bodyType: Flag.String("body-type").pipe(
    Flag.withMetavar("TYPE"),
    Flag.withDescription(
      "With a template: its content type, such as application/vnd.api+json; default: application/json",
    ),
    Flag.optional,
  ),
}

/** These flags of a call. */
export interface BodyInput {
  readonly body: Option.Option<BodyKind>
  readonly bodyFile: Option.Option<string>
  readonly bodyMethod: Option.Option<BodyMethod>
  readonly bodyType: Option.Option<string>
}

/** The body of a call; undefined without these flags. */
export const readBody = (input: BodyInput) =>
  Effect.gen(function* () {
    const { body, bodyFile, bodyMethod, bodyType } = input
    if (Option.isNone(body) && Option.isNone(bodyFile)) {
      if (Option.isNone(bodyMethod) && Option.isNone(bodyType)) return undefined
      const message = "--body-method and --body-type need --body or --body-file."
      return yield* new CommandError({ code: "usage", message })
    }
    const template = Option.isNone(bodyFile)
      ? null
      : (yield* readInput(bodyFile.value, `--body-file ${bodyFile.value}`)).replace(/^\uFEFF/, "")
    const choice: BodyChoice = {
      kind: Option.getOrElse(body, () => "template" as const),
      ...(template === null ? {} : { template }),
      ...(Option.isNone(bodyMethod) ? {} : { method: bodyMethod.value }),
      ...(Option.isNone(bodyType) ? {} : { contentType: bodyType.value }),
    }
    return choice
  })
