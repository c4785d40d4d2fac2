/**
 * How a source's sender is verified, and which provider's challenge it answers: the forms, and their input. Secrets are
 * accepted, and never shown.
 */
import type { Source } from "@data-cabinet/core/source/Source"
import {
  CHALLENGE_PROVIDERS,
  type ChallengeChange,
  type ChallengeProvider,
} from "@data-cabinet/core/verification/Challenge"
import {
  HMAC_ALGORITHMS,
  type HmacChange,
  type Place,
  SIGNATURE_ENCODINGS,
} from "@data-cabinet/core/verification/Recipe"
import { RECIPE_NAMES, type RecipeName } from "@data-cabinet/core/verification/Recipes"
import { VERIFICATION_MODES, type VerificationChange } from "@data-cabinet/core/verification/Verification"
import { Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { postForm } from "../html/PostForm.ts"
import { consolePath, type Frame, may } from "../html/Shell.ts"
import { fieldOf } from "../screen/Act.ts"
import type { FormCall } from "../screen/ConsoleScreen.ts"
import { latePath } from "./LateScreen.ts"

const options = (values: ReadonlyArray<string>, chosen: string): ReadonlyArray<Html> =>
  values.map((value) => markup`<option${value === chosen && new Html(" selected")}>${value}</option>`)

const PLACES = ["header", "query", "field"] as const satisfies ReadonlyArray<keyof Place>

export const verification = (frame: Frame, { id, verify }: Source): HtmlValue => {
  const words = frame.words.verification
  if (!may(frame, "source.change")) return null
  const hmac = verify?.hmac ?? null
  const current = PLACES.find((place) => verify?.[place] !== undefined) ?? "header"
  const isPlaced = verify?.[current] !== undefined
  const plain = new Html(`autocomplete="off" spellcheck="false"`)
  const body = markup`<label>${words.recipe}<select name="recipe"><option value="">${words.none}</option>${options(RECIPE_NAMES, verify?.recipe ?? "")}</select></label>
<label>${words.mode}<select name="mode">${VERIFICATION_MODES.map((mode) => markup`<option value="${mode}"${mode === (verify?.mode ?? "reject") && new Html(" selected")}>${words.modes[mode]}</option>`)}</select></label>
<label>${verify === null ? words.secret : words.newSecret}<input name="secret" type="password" maxlength="1000" autocomplete="off"></label>
${verify !== null && markup`<label class="choice"><input type="checkbox" name="keep_old" value="on"${verify.keepsOldSecret && new Html(" checked")}> ${words.keepOld}</label>`}
<details${isPlaced && new Html(" open")}><summary>${words.token}</summary>
<label>${words.place}<select name="place">${PLACES.map((place) => markup`<option value="${place}"${place === current && new Html(" selected")}>${words.places[place]}</option>`)}</select></label>
<label>${words.placeName}<input name="place_name" maxlength="200" value="${verify?.[current] ?? ""}" placeholder="X-Token" ${plain}></label>
</details>
<details${hmac !== null && new Html(" open")}><summary>${words.parameters}</summary>
<label>${words.header}<input name="header" maxlength="128" value="${hmac?.header ?? ""}" placeholder="X-Signature" ${plain}></label>
<label>${words.algorithm}<select name="algorithm">${options(HMAC_ALGORITHMS, hmac?.algorithm ?? "sha256")}</select></label>
<label>${words.encoding}<select name="encoding">${options(SIGNATURE_ENCODINGS, hmac?.encoding ?? "hex")}</select></label>
<label>${words.prefix}<input name="prefix" maxlength="50" value="${hmac?.prefix ?? ""}" placeholder="sha256=" ${plain}></label>
<label>${words.value}<input name="value" maxlength="500" value="${hmac?.value ?? ""}" placeholder="t={timestamp},v1={signature}" ${plain}></label>
<label>${words.signed}<input name="signed" maxlength="500" value="${hmac?.signed ?? ""}" placeholder="{timestamp}.{body}" ${plain}></label>
<label>${words.field}<input name="field" maxlength="200" value="${hmac?.field ?? ""}" placeholder="signature" ${plain}></label>
<label>${words.timestampHeader}<input name="timestamp_header" maxlength="128" value="${hmac?.timestampHeader ?? ""}" placeholder="X-Timestamp" ${plain}></label>
<label>${words.timestampField}<input name="timestamp_field" maxlength="200" value="${hmac?.timestampField ?? ""}" placeholder="timestamp" ${plain}></label>
<label>${words.idHeader}<input name="id_header" maxlength="128" value="${hmac?.idHeader ?? ""}" placeholder="X-Id" ${plain}></label>
<label>${words.tolerance}<input name="tolerance" type="number" min="1" max="86400" value="${String(hmac?.toleranceSeconds ?? 300)}"></label>
</details>
<button class="main">${frame.words.save}</button>`
  const path = consolePath(frame, `sources/${id}/verify`)
  return markup`<section class="card" aria-labelledby="verify"><h2 id="verify">${words.title}</h2><p>${verify === null ? words.nobody : words.by[verify.mode](verify.recipe)}</p>
${postForm({ path, kind: "form", body })}${verify !== null && may(frame, "event.verify") && markup`<p class="links"><a href="${latePath(frame, id)}">${frame.words.late.link}</a></p>`}</section>`
}

/** The provider whose challenge is answered. */
export const challenge = (frame: Frame, { id, challenge: current }: Source): HtmlValue => {
  const words = frame.words.challenge
  if (!may(frame, "source.change")) return null
  const body = markup`<label>${words.provider}<select name="provider"><option value="">${words.none}</option>${options(CHALLENGE_PROVIDERS, current?.provider ?? "")}</select></label>
<label>${words.secret}<input name="secret" type="password" maxlength="1000" autocomplete="off"></label>
<button class="main">${frame.words.save}</button>`
  return markup`<section class="card" aria-labelledby="challenge"><h2 id="challenge">${words.title}</h2><p>${words.hint}</p>
${postForm({ path: consolePath(frame, `sources/${id}/challenge`), kind: "form", body })}</section>`
}

/** An empty secret keeps the current one. */
export const challengeIn = (call: FormCall): ChallengeChange | null => {
  const provider = fieldOf(call, "provider")
  const secret = fieldOf(call, "secret")
  // The use case refuses an unknown one.
  return provider === "" ? null : { provider: provider as ChallengeProvider, ...(secret === "" ? {} : { secret }) }
}

/** An empty name leaves the current place. */
const placeIn = (call: FormCall): Place => {
  const name = fieldOf(call, "place_name")
  const place = PLACES.find((known) => known === fieldOf(call, "place")) ?? "header"
  return name === "" ? {} : { [place]: name }
}

/** An empty field takes its parameter away. */
const parametersIn = (call: FormCall): HmacChange => {
  const orNull = (name: string): string | null => fieldOf(call, name) || null
  return {
    header: orNull("header"),
    field: orNull("field"),
    algorithm: HMAC_ALGORITHMS.find((known) => known === fieldOf(call, "algorithm")) ?? "sha256",
    encoding: SIGNATURE_ENCODINGS.find((known) => known === fieldOf(call, "encoding")) ?? "hex",
    prefix: fieldOf(call, "prefix"),
    value: orNull("value"),
    signed: orNull("signed"),
    timestampHeader: orNull("timestamp_header"),
    timestampField: orNull("timestamp_field"),
    idHeader: orNull("id_header"),
    toleranceSeconds: Number(fieldOf(call, "tolerance")),
  }
}

/** An empty secret keeps the current one. */
export const verificationIn = (call: FormCall): VerificationChange | null => {
  const chosen = fieldOf(call, "recipe")
  if (chosen === "") return null
  // The use case refuses an unknown one, which must not end the verification.
  const recipe = chosen as RecipeName
  const secret = fieldOf(call, "secret")
  return {
    recipe,
    mode: VERIFICATION_MODES.find((known) => known === fieldOf(call, "mode")) ?? "reject",
    ...(secret === "" ? {} : { secret }),
    keepOldSecret: fieldOf(call, "keep_old") === "on",
    ...(recipe === "token" ? placeIn(call) : {}),
    ...(recipe === "hmac" ? { hmac: parametersIn(call) } : {}),
  }
}
