/** Which proof of a person the form of a source demands: the form, its input, and what the page with the form needs. */
import {
  type FormProof,
  type FormProofChange,
  MAX_SITE_KEY_LENGTH,
  PROOF_KINDS,
  type ProofKind,
} from "@data-cabinet/core/proof/FormProof"
import type { Source } from "@data-cabinet/core/source/Source"
import { Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { postForm } from "../html/PostForm.ts"
import { consolePath, type Frame, may } from "../html/Shell.ts"
import { fieldOf } from "../screen/Act.ts"
import type { FormCall } from "../screen/ConsoleScreen.ts"

/** The setting and its form. */
export const proofForm = (frame: Frame, { id, proof }: Source): HtmlValue => {
  const words = frame.words.proof
  if (!may(frame, "source.change")) return null
  const body = markup`<label>${words.kind}<select name="kind"><option value="">${words.none}</option>${PROOF_KINDS.map((kind) => markup`<option value="${kind}"${kind === proof?.kind && new Html(" selected")}>${words.kinds[kind]}</option>`)}</select></label>
<label>${words.siteKey}<input name="site_key" maxlength="${MAX_SITE_KEY_LENGTH}" value="${proof?.siteKey ?? ""}" autocomplete="off" spellcheck="false"></label>
<label>${words.secret}<input name="secret" type="password" maxlength="1000" autocomplete="off"></label>
<button class="main">${frame.words.save}</button>`
  return markup`<section class="card" aria-labelledby="proof"><h2 id="proof">${words.title}</h2><p>${words.hint}</p>${proof !== null && markup`<p class="soft">${words.batches}</p>`}
${postForm({ path: consolePath(frame, `sources/${id}/proof`), kind: "form", body })}</section>`
}

/** An empty secret keeps the current one, and so does an empty site key. */
export const proofIn = (call: FormCall): FormProofChange | null => {
  const kind = fieldOf(call, "kind")
  if (kind === "") return null
  const [siteKey, secret] = [fieldOf(call, "site_key"), fieldOf(call, "secret")]
  return {
    // The use case refuses an unknown one.
    kind: kind as ProofKind,
    // A key that the form still shows is not for the kind that was chosen.
    ...(siteKey === "" || kind === "altcha" ? {} : { siteKey }),
    ...(secret === "" ? {} : { secret }),
  }
}

/** Lines for the page with the form, inside the form or anywhere on the page; none without a proof. */
export const proofMarkup = (url: string, proof: FormProof | null): ReadonlyArray<string> => {
  switch (proof?.kind) {
    case undefined:
      return []
    case "altcha":
      return [`<script src="${url}/proof.js" defer></script>`]
    case "turnstile":
      return [
        `<div class="cf-turnstile" data-sitekey="${proof.siteKey}"></div>`,
        `<script src="https://challenges.cloudflare.com/turnstile/v0/api.js" async defer></script>`,
      ]
    case "hcaptcha":
      return [
        `<div class="h-captcha" data-sitekey="${proof.siteKey}"></div>`,
        `<script src="https://js.hcaptcha.com/1/api.js" async defer></script>`,
      ]
  }
}

/** What the policy of the page needs to allow; null without a proof. */
export const proofPolicy = (url: string, proof: FormProof | null): string | null => {
  const { origin } = new URL(url)
  switch (proof?.kind) {
    case undefined:
      return null
    case "altcha":
      return `script-src ${origin}; connect-src ${origin}; form-action ${origin}`
    case "turnstile":
      return `script-src https://challenges.cloudflare.com; frame-src https://challenges.cloudflare.com; form-action ${origin}`
    case "hcaptcha": {
      const hosts = "https://hcaptcha.com https://*.hcaptcha.com"
      return `script-src ${hosts}; frame-src ${hosts}; style-src ${hosts}; connect-src ${hosts}; form-action ${origin}`
    }
  }
}
