/**
 * What the requests of an address carry: the contract's own body, a CloudEvent, a chat message, a form, or a custom
 * body described by a template.
 *
 * Decision: docs/decisions/0092-a-body-is-a-template-without-code.md
 */
import { Result } from "effect"
import { type Setting, settingsOf } from "../json/Setting.ts"
import { compileTemplate, MAX_TEMPLATE_BYTES, type TemplateUse } from "./BodyTemplate.ts"

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

const DECLARED = {
  kind: {
    about: "`standard`: our own body; `template`: one of your own; the others: that of a receiver.",
    input: { kind: "choice", values: BODY_KINDS },
    default: "standard",
    flag: { name: "body", about: "What deliveries carry: our own body (default), or one that a receiver takes" },
  },
  template: {
    about: "JSON with places such as `{{payload.name}}`; null without one.",
    inRequests: "JSON whose texts hold places such as `{{payload.name}}`. For `template` and `form`.",
    input: {
      kind: "text",
      maxLength: MAX_TEMPLATE_BYTES,
      example: '{"name": "{{payload.name}}"}',
      is: "document",
    },
    default: null,
    flag: {
      name: "body-file",
      metavar: "FILE",
      about:
        "File with a template: JSON with placeholders such as {{payload.name}}; without --body it is sent as JSON. - for standard input",
    },
  },
  method: {
    about: "The method of its requests.",
    inRequests: "Of `template` and `form`; default: `POST`.",
    input: { kind: "choice", values: BODY_METHODS },
    default: "POST",
    flag: { name: "body-method", about: "With a template or a form: the method; default: POST" },
  },
  contentType: {
    about: "The content type of a template's body; null: `application/json`.",
    inRequests: "Of a `template`: `application/json`, which is the default, or a type that ends in `+json`.",
    input: { kind: "text", maxLength: 100, example: "application/json" },
    default: null,
    flag: {
      name: "body-type",
      metavar: "TYPE",
      about: "With a template: its content type, such as application/vnd.api+json; default: application/json",
    },
  },
} as const satisfies { readonly [K in keyof BodySetting]: Setting<BodySetting[K]> }

/** The members of a body. */
export const BODY_PARTS = settingsOf<BodySetting>()(DECLARED)

/** The contract's own body. */
export const STANDARD_BODY = BODY_PARTS.defaults

const JSON_TYPE = /^application\/(?:[a-z0-9][a-z0-9.+_-]{0,60}\+)?json(?:; ?charset=utf-8)?$/i

const TEMPLATES: { readonly [K in BodyKind]?: TemplateUse } = { template: "json", form: "form" }

/** Why no delivery could be written with it; null if it could. */
export const bodyRefusal = ({ kind, template, method, contentType }: BodySetting): string | null => {
  if (!BODY_KINDS.includes(kind)) return `The kind of a body must be one of ${BODY_KINDS.join(", ")}.`
  const use = TEMPLATES[kind]
  if (template !== null && use === undefined) return `A body of kind ${kind} takes no template.`
  if (kind === "template" && template === null) return "A body of kind template needs a template."
  if (!BODY_METHODS.includes(method)) return `The method must be one of ${BODY_METHODS.join(", ")}.`
  if (method !== "POST" && use === undefined) return `A body of kind ${kind} is sent with POST.`
  if (contentType !== null && kind !== "template") return "Only a body of kind template has a content type."
  if (contentType !== null && !JSON_TYPE.test(contentType)) {
    return "The content type must be application/json, or application/ with a name that ends in +json."
  }
  const compiled = template === null || use === undefined ? null : compileTemplate(template, use)
  return compiled !== null && Result.isFailure(compiled) ? compiled.failure : null
}
