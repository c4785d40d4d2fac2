/**
 * The client certificate of an address: its public facts, the fields for a new one with its key, and the way to remove
 * it. The key is never shown afterwards.
 */
import type { Address } from "@data-cabinet/core/delivery/Address"
import { MAX_CERTIFICATE_CHARACTERS, MAX_KEY_CHARACTERS } from "@data-cabinet/core/delivery/ClientCertificate"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { actButton } from "../html/PostForm.ts"
import { consolePath, type Frame, may } from "../html/Shell.ts"
import { fieldOf } from "../screen/Act.ts"
import type { FormCall } from "../screen/ConsoleScreen.ts"
import { timeText } from "../html/Moment.ts"
import type { SendingSettings } from "@data-cabinet/core/delivery/NewAddress"

const pem = (name: string, label: string, most: number, begin: string): Html =>
  markup`<label>${label}<textarea name="${name}" class="mono" rows="3" maxlength="${String(most)}" placeholder="-----BEGIN ${begin}-----" autocomplete="off" spellcheck="false"></textarea></label>`

export const certificateFields = (frame: Frame, isKept: boolean): Html => {
  const { integration: words } = frame.words
  const certificate = pem("client_certificate", words.clientCertificate, MAX_CERTIFICATE_CHARACTERS, "CERTIFICATE")
  return markup`${certificate}${pem("client_key", words.clientKey, MAX_KEY_CHARACTERS, "PRIVATE KEY")}<p class="soft">${isKept ? words.clientCertificateKept : words.clientCertificateHint}</p>`
}

/** Passes on what was given: if one of the two is missing, the refusal names it. */
export const identityIn = (call: FormCall): Pick<SendingSettings, "clientIdentity"> => {
  const clientIdentity = { certificate: fieldOf(call, "client_certificate"), key: fieldOf(call, "client_key") }
  return clientIdentity.certificate === "" && clientIdentity.key === "" ? {} : { clientIdentity }
}

type Certified = Pick<Address, "id" | "clientCertificate">

export const certificateFacts = (frame: Frame, { clientCertificate }: Certified, timeZone: string): HtmlValue => {
  const { integration: words } = frame.words
  if (clientCertificate === null) return null
  const { subject, issuer, fingerprint, endsAt } = clientCertificate
  return markup`<dt>${words.clientCertificate}</dt><dd><bdi>${subject}</bdi></dd><dt>${words.certificateIssuer}</dt><dd><bdi>${issuer}</bdi></dd><dt>${words.certificateEnds}</dt><dd>${timeText(timeZone)(endsAt)}</dd><dt>SHA-256</dt><dd class="mono">${fingerprint}</dd>`
}

export const certificateRemoval = (frame: Frame, { id, clientCertificate }: Certified): HtmlValue => {
  const { integration: words } = frame.words
  if (clientCertificate === null || !may(frame, "address.change")) return null
  const path = consolePath(frame, `addresses/${id}/client-certificate/remove`)
  return markup`<details class="card"><summary>${words.removeCertificate}</summary><p>${words.removeCertificateHint}</p>${actButton(path, words.removeCertificate, "danger")}</details>`
}
