/** The client certificate of an address: its public facts, and the way to remove it. */
import type { Address } from "@data-cabinet/core/delivery/Address"
import { type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { actButton } from "../html/PostForm.ts"
import { consolePath, type Frame, may } from "../html/Shell.ts"
import { timeText } from "../html/Moment.ts"

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
