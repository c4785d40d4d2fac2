/**
 * How deliveries are sent to an address, in its forms: a header, a client certificate, the rate, the time limit, and
 * when the address is given up. The value of a header and the key of a certificate are accepted and never shown.
 */
import type { Address } from "@data-cabinet/core/delivery/Address"
import { SECRET_SETTINGS } from "@data-cabinet/core/delivery/ClientIdentity"
import { NO_BATCHES, SENDING_SETTINGS, type ShownSettings } from "@data-cabinet/core/delivery/SendingSettings"
import type { HeaderChange } from "@data-cabinet/core/delivery/HeaderChange"
import { type Html, markup } from "@data-cabinet/http-node/html/Html"
import type { Frame } from "../html/Shell.ts"
import { bodyIn } from "./BodyFields.ts"
import { fieldOf } from "../screen/Act.ts"
import { settingFields, settingsIn } from "../screen/SettingFields.ts"
import type { FormCall } from "../screen/ConsoleScreen.ts"
import type { SendingSettings } from "@data-cabinet/core/delivery/NewAddress"

type Sending = ShownSettings & Pick<Address, "headerNames" | "clientCertificate">

const NEW: Sending = { headerNames: [], clientCertificate: null, ...SENDING_SETTINGS.defaults }

/** The body has a form of its own. */
const OTHERS = { ...SENDING_SETTINGS, all: SENDING_SETTINGS.all.filter(({ key }) => key !== "body") }

export const sendingFields = (frame: Frame, sending: Sending = NEW): Html => {
  const { headerNames, clientCertificate } = sending
  const { integration: words, poll } = frame.words
  const kept =
    headerNames.length > 0 &&
    markup`<legend>${poll.header}</legend><label class="choice"><input type="radio" name="headers" value="keep" checked> <span>${poll.keepHeaders} <bdi class="mono">${headerNames.join(", ")}</bdi></span></label><label class="choice"><input type="radio" name="headers" value="replace"> ${poll.replaceHeaders}</label><p class="soft">${poll.headersHint}</p>`
  const one = markup`<label>${poll.header}<input name="header_name" maxlength="100" placeholder="Authorization" autocomplete="off"></label><label>${poll.headerValue}<input name="header_value" type="password" maxlength="4096" autocomplete="off"></label>`
  return markup`<details><summary>${words.sending}</summary>${kept ? markup`<fieldset>${kept}${one}</fieldset>` : sending === NEW && one}
${settingFields(OTHERS, sending, words.setting)}
${settingFields(SECRET_SETTINGS, { clientIdentity: null }, words.setting)}${clientCertificate !== null && markup`<p class="soft">${words.clientCertificateKept}</p>`}</details>`
}

/**
 * Typed headers are sent whatever was chosen, in addition to the kept ones, if any. Headers are removed only if that
 * was chosen. A form without these fields leaves the headers unchanged.
 */
export const sendingOf = (call: FormCall): SendingSettings & HeaderChange => {
  const name = fieldOf(call, "header_name")
  const headers = name === "" ? [] : [[name, fieldOf(call, "header_value")] as const]
  const choice = fieldOf(call, "headers")
  const isKept = choice === "keep"
  const { body: _, ...others } = settingsIn(SENDING_SETTINGS, call) as SendingSettings
  const body = bodyIn(call)
  return {
    ...(choice === "replace" || (headers.length > 0 && !isKept) ? { headers } : {}),
    ...(headers.length > 0 && isKept ? { setHeaders: headers } : {}),
    ...(settingsIn(SECRET_SETTINGS, call) as SendingSettings),
    ...others,
    // Without an order an address takes no batches, whatever the fields have.
    ...(others.order === "none" ? { batch: NO_BATCHES } : {}),
    ...(body === undefined ? {} : { body }),
  }
}
