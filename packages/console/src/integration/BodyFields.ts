/** The body of an address's deliveries in its forms, and its preview: the event, the template and the request beside one another. */
import type { Address } from "@data-cabinet/core/delivery/Address"
import type { BodyPreview } from "@data-cabinet/core/delivery/BodyPreview"
import { type BodyChoice, BODY_PARTS, type BodySetting, STANDARD_BODY } from "@data-cabinet/core/delivery/BodySetting"
import { BODY_SETTINGS } from "@data-cabinet/core/delivery/SendingSettings"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { postForm } from "../html/PostForm.ts"
import { consolePath, type Frame, may } from "../html/Shell.ts"
import type { FormCall } from "../screen/ConsoleScreen.ts"
import { settingFields, settingsIn } from "../screen/SettingFields.ts"
import { type KnownPaths, placesList } from "./KnownPaths.ts"

/** Shown of a body or an event. */
const SHOWN_CHARACTERS = 20_000

/** The fields of a body. Those of a template are shown for the kinds that have one; the style sheet hides them. */
const bodyFields = (frame: Frame, body: BodySetting): Html => {
  const { parts } = frame.words.integration.setting
  const [kind = null, ...others] = settingFields(BODY_PARTS, body, parts.body!, "body")
  return markup`${kind}<div class="templated">${others}</div>`
}

/** In the form of a new address. */
export const newBody = (frame: Frame): Html =>
  markup`<details><summary>${frame.words.integration.body}</summary>${bodyFields(frame, STANDARD_BODY)}</details>`

/** The body of an address: as it is, or as it was previewed. */
export const bodyCard = (
  frame: Frame,
  { id, body }: Pick<Address, "id" | "body">,
  previewed: { readonly body: BodySetting; readonly result: BodyPreview } | null,
  known: KnownPaths,
): HtmlValue => {
  const { integration: words } = frame.words
  if (!may(frame, "address.change")) return null
  const path = consolePath(frame, `addresses/${id}`)
  const eventId = previewed?.result.eventId ?? null
  const form = postForm({
    path: `${path}/body`,
    kind: "form",
    body: markup`${bodyFields(frame, previewed?.body ?? body)}${placesList(frame, known)}<label>${words.previewEvent}<input name="preview_event" inputmode="numeric" pattern="[0-9]*" value="${eventId === null ? "" : String(eventId)}" autocomplete="off"></label><p class="soft">${words.previewHint}</p><div class="row wrap"><button class="main">${frame.words.save}</button><button formaction="${path}/preview">${words.preview}</button></div>`,
  })
  return markup`<section class="card" aria-labelledby="body"><h2 id="body">${words.body}</h2>${form}</section>`
}

/** The body that a form has; undefined for a form without these fields. Kinds without a template ignore the other fields. */
export const bodyIn = (call: FormCall): BodyChoice | undefined => {
  const body = settingsIn(BODY_SETTINGS, call).body as BodyChoice | undefined
  if (body === undefined || body.kind === "template") return body
  return body.kind === "form" ? { ...body, contentType: null } : { kind: body.kind }
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
