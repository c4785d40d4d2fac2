/** The body of an address's deliveries in its forms, and its preview: the event, the template and the request beside one another. */
import type { Address } from "@data-cabinet/core/delivery/Address"
import type { BodyPreview } from "@data-cabinet/core/delivery/BodyPreview"
import {
  BODY_KINDS,
  BODY_METHODS,
  type BodyChoice,
  type BodyKind,
  type BodySetting,
  STANDARD_BODY,
} from "@data-cabinet/core/delivery/BodySetting"
import { MAX_TEMPLATE_BYTES } from "@data-cabinet/core/delivery/BodyTemplate"
import { Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { postForm } from "../html/PostForm.ts"
import { consolePath, type Frame, may } from "../html/Shell.ts"
import { fieldOf } from "../screen/Act.ts"
import type { FormCall } from "../screen/ConsoleScreen.ts"

/** Shown of a body or an event. */
const SHOWN_CHARACTERS = 20_000

const option = (value: string, label: string, chosen: string): Html =>
  markup`<option value="${value}"${value === chosen && new Html(" selected")}>${label}</option>`

/** The fields of a body. Those of a template are shown for the kinds that have one; the style sheet hides them. */
const bodyFields = (frame: Frame, body: BodySetting): Html => {
  const { integration: words } = frame.words
  const kinds = BODY_KINDS.map((kind) => option(kind, words.bodyKinds[kind], body.kind))
  const methods = BODY_METHODS.map((method) => option(method, method, body.method))
  return markup`<input type="hidden" name="has_body" value="yes" autocomplete="off"><label>${words.bodyKind}<select name="body_kind" autocomplete="off">${kinds}</select></label>
<div class="templated"><label>${words.template}<textarea name="body_template" class="mono" rows="8" maxlength="${String(MAX_TEMPLATE_BYTES)}" placeholder="${EXAMPLE}" autocomplete="off" spellcheck="false">
${body.template ?? ""}</textarea></label><p class="soft">${words.templateHint}</p>
<label>${words.bodyMethod}<select name="body_method" autocomplete="off">${methods}</select></label><label>${words.bodyType}<input name="body_type" value="${body.contentType ?? ""}" maxlength="100" placeholder="application/json" autocomplete="off"></label></div>`
}

const EXAMPLE = '{"name": "{{payload.name}}"}'

/** In the form of a new address. */
export const newBody = (frame: Frame): Html =>
  markup`<details><summary>${frame.words.integration.body}</summary>${bodyFields(frame, STANDARD_BODY)}</details>`

/** The body of an address: as it is, or as it was previewed. */
export const bodyCard = (
  frame: Frame,
  { id, body }: Pick<Address, "id" | "body">,
  previewed: { readonly body: BodySetting; readonly result: BodyPreview } | null,
): HtmlValue => {
  const { integration: words } = frame.words
  if (!may(frame, "address.change")) return null
  const path = consolePath(frame, `addresses/${id}`)
  const eventId = previewed?.result.eventId ?? null
  const form = postForm({
    path: `${path}/body`,
    kind: "form",
    body: markup`${bodyFields(frame, previewed?.body ?? body)}<label>${words.previewEvent}<input name="preview_event" inputmode="numeric" pattern="[0-9]*" value="${eventId === null ? "" : String(eventId)}" autocomplete="off"></label><p class="soft">${words.previewHint}</p><div class="row wrap"><button class="main">${frame.words.save}</button><button formaction="${path}/preview">${words.preview}</button></div>`,
  })
  return markup`<section class="card" aria-labelledby="body"><h2 id="body">${words.body}</h2>${form}</section>`
}

/** The kinds that use the form's template, method and content type; the others ignore these fields. */
const TEMPLATED: ReadonlySet<BodyKind> = new Set(["template", "form"])

/** The body that a form has; undefined for a form without these fields. */
export const bodyIn = (call: FormCall): BodyChoice | undefined => {
  if (fieldOf(call, "has_body") === "") return undefined
  const named = fieldOf(call, "body_kind")
  const kind = BODY_KINDS.find((one) => one === named) ?? (named as BodyKind)
  if (!TEMPLATED.has(kind)) return { kind }
  // A browser sends each line break as two characters.
  const template = fieldOf(call, "body_template").replaceAll("\r\n", "\n")
  const type = fieldOf(call, "body_type")
  return {
    kind,
    template: template === "" ? null : template,
    method: BODY_METHODS.find((one) => one === fieldOf(call, "body_method")) ?? "POST",
    contentType: type === "" || kind === "form" ? null : type,
  }
}

const shownText = (text: string): string =>
  text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS).toWellFormed()}…` : text

const pane = (title: string, text: string): Html =>
  markup`<section class="card"><h3>${title}</h3><pre class="text">
${shownText(text)}</pre></section>`

/** A preview as a screen shows it. */
export const previewPanes = (frame: Frame, preview: BodyPreview): HtmlValue => {
  const { integration: words, event } = frame.words
  const { eventId, method, headers, body, template } = preview
  const head = headers.map(({ name, value }) => `${name}: ${value}`).join("\n")
  return markup`<section aria-labelledby="preview" role="status"><h2 id="preview">${words.previewTitle}</h2><div class="charts">${
    preview.event === null
      ? markup`<section class="card"><h3>${event.title}</h3><p class="soft">${words.previewSample}</p></section>`
      : pane(`${event.title} ${eventId}`, preview.event)
  }${template !== null && pane(words.template, template)}${pane(words.previewRequest, `${method}\n${head}\n\n${body}`)}</div></section>`
}

/** What an address's card says about its body; nothing for the standard one. */
export const bodyFacts = (frame: Frame, { kind, method }: BodySetting): HtmlValue => {
  const { integration: words } = frame.words
  if (kind === "standard") return null
  return markup`<dt>${words.body}</dt><dd>${words.bodyKinds[kind]}${method !== "POST" && ` (${method})`}</dd>`
}
