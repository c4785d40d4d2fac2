/**
 * How deliveries are sent to an address, in its forms: a header, a client certificate, the rate, the time limit, and
 * when the address is given up. The value of a header and the key of a certificate are accepted and never shown.
 */
import { type Address, NO_BATCHES } from "@data-cabinet/core/delivery/Address"
import { MAX_BATCH, MAX_BATCH_WAIT_SECONDS } from "@data-cabinet/core/delivery/AddressSettings"
import { SENDING_SETTINGS, type SendingValues } from "@data-cabinet/core/delivery/SendingSettings"
import type { HeaderChange } from "@data-cabinet/core/delivery/HeaderChange"
import { Html, markup } from "@data-cabinet/http-node/html/Html"
import type { Frame } from "../html/Shell.ts"
import { bodyIn } from "./BodyFields.ts"
import { certificateFields, identityIn } from "./ClientCertificateFields.ts"
import { fieldOf } from "../screen/Act.ts"
import { settingFields, settingsIn } from "../screen/SettingFields.ts"
import type { FormCall } from "../screen/ConsoleScreen.ts"
import type { SendingSettings } from "@data-cabinet/core/delivery/NewAddress"

type Sending = SendingValues & Pick<Address, "headerNames" | "clientCertificate" | "order" | "batch">

const NEW: Sending = {
  headerNames: [],
  clientCertificate: null,
  ...SENDING_SETTINGS.defaults,
  order: "none",
  batch: NO_BATCHES,
}

export const sendingFields = (frame: Frame, sending: Sending = NEW): Html => {
  const { headerNames, clientCertificate } = sending
  const { integration: words, poll } = frame.words
  const kept =
    headerNames.length > 0 &&
    markup`<legend>${poll.header}</legend><label class="choice"><input type="radio" name="headers" value="keep" checked> <span>${poll.keepHeaders} <bdi class="mono">${headerNames.join(", ")}</bdi></span></label><label class="choice"><input type="radio" name="headers" value="replace"> ${poll.replaceHeaders}</label><p class="soft">${poll.headersHint}</p>`
  const one = markup`<label>${poll.header}<input name="header_name" maxlength="100" placeholder="Authorization" autocomplete="off"></label><label>${poll.headerValue}<input name="header_value" type="password" maxlength="4096" autocomplete="off"></label>`
  return markup`<details><summary>${words.sending}</summary>${kept ? markup`<fieldset>${kept}${one}</fieldset>` : sending === NEW && one}
${settingFields(SENDING_SETTINGS, sending, words.setting)}
${orderFields(frame, sending)}${certificateFields(frame, clientCertificate !== null)}</details>`
}

const orderFields = (frame: Frame, { order, batch }: Sending): Html => {
  const { integration: words } = frame.words
  return markup`<input type="hidden" name="has_order" value="yes"><label class="choice"><input type="checkbox" name="order" value="feed"${order === "feed" && new Html(" checked")}> ${words.inOrder}</label><p class="soft">${words.inOrderHint}</p>
<label>${words.batchMax}<input name="batch_max" type="number" min="1" max="${String(MAX_BATCH)}" value="${String(batch.max)}" autocomplete="off"></label><label>${words.batchWait}<input name="batch_wait" type="number" min="0" max="${String(MAX_BATCH_WAIT_SECONDS)}" value="${String(batch.wait)}" autocomplete="off"></label>`
}

/** A form without an order is one of an address that takes no batches, whatever its fields have. */
const orderIn = (call: FormCall): Pick<SendingSettings, "order" | "batch"> => {
  if (fieldOf(call, "order") !== "feed") return { order: "none", batch: NO_BATCHES }
  const numberIn = (text: string) => (/^\d{1,3}$/.test(text) ? Number(text) : -1)
  return {
    order: "feed",
    batch: { max: numberIn(fieldOf(call, "batch_max")), wait: numberIn(fieldOf(call, "batch_wait")) },
  }
}

/**
 * Typed headers are sent whatever was chosen, in addition to the kept ones, if any. Headers are removed only if that
 * was chosen. A form without these fields leaves the headers unchanged.
 */
export const sendingOf = (call: FormCall): SendingSettings & HeaderChange => {
  const has = (field: string) => call.form.some(([name]) => name === field)
  const name = fieldOf(call, "header_name")
  const headers = name === "" ? [] : [[name, fieldOf(call, "header_value")] as const]
  const choice = fieldOf(call, "headers")
  const isKept = choice === "keep"
  const body = bodyIn(call)
  return {
    ...(choice === "replace" || (headers.length > 0 && !isKept) ? { headers } : {}),
    ...(headers.length > 0 && isKept ? { setHeaders: headers } : {}),
    ...identityIn(call),
    ...settingsIn(SENDING_SETTINGS, call),
    ...(has("has_order") ? orderIn(call) : {}),
    ...(body === undefined ? {} : { body }),
  }
}
