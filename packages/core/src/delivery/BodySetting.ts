/**
 * What the requests of an address carry: the contract's own body, a CloudEvent, a chat message, a form, or a custom
 * body described by a template.
 *
 * Decision: docs/decisions/0092-a-body-is-a-template-without-code.md
 */
import { Result } from "effect"
import * as Shape from "../json/Shape.ts"
import type { Batching } from "./Address.ts"
import { AddressError } from "./AddressError.ts"
import { compileTemplate, type TemplateUse } from "./BodyTemplate.ts"

/** The kinds of bodies. */
export const BODY_KINDS = [
  "standard",
  "cloudevents",
  "cloudevents-binary",
  "slack",
  "teams",
  "discord",
  "telegram",
  "form",
  "template",
] as const
/** One of `BODY_KINDS`. */
export type BodyKind = (typeof BODY_KINDS)[number]

/** The methods that a form or a template may be sent with. */
export const BODY_METHODS = ["POST", "PUT", "PATCH"] as const
/** One of `BODY_METHODS`. */
export type BodyMethod = (typeof BODY_METHODS)[number]

/** The body of an address's deliveries. */
export interface BodySetting {
  readonly kind: BodyKind
  /** JSON with places such as `{{payload.name}}`: of kind `template`, and of a `form` with fields of its own; else null. */
  readonly template: string | null
  readonly method: BodyMethod
  /** The media type of a template's body; null: that of its kind. */
  readonly contentType: string | null
}

/** The caller's choice; absent members have their defaults. */
export type BodyChoice = Pick<BodySetting, "kind"> & Partial<BodySetting>

/** The contract's own body. */
export const STANDARD_BODY: BodySetting = { kind: "standard", template: null, method: "POST", contentType: null }

/** A body as the APIs show it. */
export const bodyShape = Shape.object<BodySetting>("What its deliveries carry.", {
  kind: Shape.oneOf(
    BODY_KINDS,
    "`standard`: our own body; `template`: one of your own; the others: that of a receiver.",
  ),
  template: Shape.orNull(Shape.text("JSON with places such as `{{payload.name}}`; null without one.")),
  method: Shape.oneOf(BODY_METHODS, "The method of its requests."),
  contentType: Shape.orNull(Shape.text("The content type of a template's body; null: `application/json`.")),
})

/** Which kinds a batch makes sense for. */
const BATCHED: ReadonlySet<BodyKind> = new Set(["standard", "cloudevents", "template"])
/** Chats, forms and binary CloudEvents describe one event. */
const WHY_ALONE = "describes one event: send it without batches, or choose standard, cloudevents or template."

const JSON_TYPE = /^application\/(?:[a-z0-9][a-z0-9.+_-]{0,60}\+)?json(?:; ?charset=utf-8)?$/i

const refuse = (message: string) => Result.fail(new AddressError({ code: "bad_template", message }))

const TEMPLATES: { readonly [K in BodyKind]?: TemplateUse } = { template: "json", form: "form" }

/** Returns the whole setting, or refuses one with which no delivery could be written. */
export const checkBody = (choice: BodyChoice): Result.Result<BodySetting, AddressError> => {
  const { kind, template = null, method = "POST", contentType = null } = choice
  if (!BODY_KINDS.includes(kind)) return refuse(`The kind of a body must be one of ${BODY_KINDS.join(", ")}.`)
  const use = TEMPLATES[kind]
  if (template !== null && use === undefined) return refuse(`A body of kind ${kind} takes no template.`)
  if (kind === "template" && template === null) return refuse("A body of kind template needs a template.")
  if (!BODY_METHODS.includes(method)) return refuse(`The method must be one of ${BODY_METHODS.join(", ")}.`)
  if (method !== "POST" && use === undefined) return refuse(`A body of kind ${kind} is sent with POST.`)
  if (contentType !== null && kind !== "template") return refuse("Only a body of kind template has a content type.")
  if (contentType !== null && !JSON_TYPE.test(contentType)) {
    return refuse("The content type must be application/json, or application/ with a name that ends in +json.")
  }
  if (template !== null && use !== undefined) {
    const compiled = compileTemplate(template, use)
    if (Result.isFailure(compiled)) return refuse(compiled.failure)
  }
  return Result.succeed({ kind, template, method, contentType })
}

/** Refuses a body that does not fit its address: its URL, and its batches. */
export const checkBodyFits = (
  { kind }: BodySetting,
  url: string,
  { max }: Batching,
): Result.Result<void, AddressError> => {
  if (max > 1 && !BATCHED.has(kind)) return refuse(`A body of kind ${kind} ${WHY_ALONE}`)
  if (kind === "telegram" && (new URL(url).searchParams.get("chat_id") ?? "") === "") {
    return refuse("The URL of a body of kind telegram must name the chat: …/sendMessage?chat_id=123.")
  }
  return Result.succeed(undefined)
}
