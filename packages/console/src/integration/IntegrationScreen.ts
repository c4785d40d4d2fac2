/** The integrations: the API block with its keys, the delivery addresses, and the login for reports. */
import { type Address, shownAddressUrl } from "@data-cabinet/core/delivery/Address"
import type { ApiKey, IssuedKey } from "@data-cabinet/core/key/ApiKey"
import type { Source } from "@data-cabinet/core/source/Source"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { integrationTabs } from "../html/Tabs.ts"
import { badge } from "../html/Badge.ts"
import { confirmed } from "../html/Confirmation.ts"
import { shortName } from "../html/LongText.ts"
import { copyField, menu } from "../html/Menu.ts"
import { consolePath, type Frame, may, type Screen } from "../html/Shell.ts"
import { filterChoice } from "./FilterChoice.ts"
import { type ReportLoginData, reportLoginBlock } from "./ReportLoginBlock.ts"
import { newBody } from "./BodyFields.ts"
import { type IdPage, pageLinks } from "../screen/IdPages.ts"
import { sendingFields } from "./SendingFields.ts"
import { subscriptionChoice } from "./SubscriptionChoice.ts"
import { lifetimeSelect } from "../person/Lifetime.ts"
import { postForm } from "../html/PostForm.ts"
import { momentsIn, timeText } from "../html/Moment.ts"
import { goingCells, goingHeads, type Going } from "./AddressHealth.ts"

export interface IntegrationData extends ReportLoginData {
  readonly keys: IdPage<ApiKey>
  readonly addresses: IdPage<Address>
  readonly sources: ReadonlyArray<Source>
  /** By the ids of the addresses. */
  readonly going: ReadonlyMap<number, Going>
  readonly timeZone: string
  /** The key that was issued by this request: shown now and never again. */
  readonly issued: IssuedKey | null
}

/** The part of an address's URL that the visitor may see: its query string may be a secret. */
export const shownUrl = ({ actor }: Frame, address: Address): string => shownAddressUrl(address, actor?.role ?? null)

export const addressState = ({ words: { integration: words } }: Frame, address: Address): Html => {
  if (address.pausedBecause !== null) return badge("bad", words.paused)
  if (address.pausedAt !== null) return badge("quiet", words.paused)
  return address.failingSince === null ? badge("good", words.works) : badge("bad", words.failing)
}

const issuedBox = (frame: Frame, issued: IssuedKey | null): HtmlValue => {
  const { integration: words } = frame.words
  const copy = frame.words.table.copy
  return (
    issued !== null &&
    markup`<div class="box good" role="status"><div class="grow"><p><b>${words.shownOnce}</b></p>${copyField("issued", issued.name, issued.key, copy)}
${copyField("issued-curl", "curl", `curl -H "X-API-Key: ${issued.key}" ${frame.baseUrl}/api/v1/tables`, copy)}</div></div>`
  )
}

const revokeKey = (frame: Frame, { id, name, prefix }: ApiKey): Html =>
  confirmed(frame, {
    id: `revoke-key-${id}`,
    face: frame.words.integration.revoke,
    says: frame.words.ask.key(name, prefix),
    path: consolePath(frame, `keys/${id}/revoke`),
    act: frame.words.ask.keyNow,
  })

const keyLine = (frame: Frame, key: ApiKey, time: (text: string) => string): Html => {
  const { integration: words } = frame.words
  const at = (text: string | null) => (text === null ? "–" : markup`<time datetime="${text}">${time(text)}</time>`)
  const isLive = key.revokedAt === null
  const until =
    isLive && key.expiresAt !== null && markup`<small>${frame.words.people.validUntil} ${time(key.expiresAt)}</small>`
  return markup`<tr><th scope="row">${key.name}${until}</th><td class="mono">${key.prefix}…</td><td class="wide-only nowrap">${at(key.createdAt)}</td><td class="wide-only nowrap">${at(key.lastRequestAt)}</td>
<td class="n">${isLive ? may(frame, "key.change") && revokeKey(frame, key) : badge("quiet", words.revoked)}</td></tr>`
}

const apiBlock = (frame: Frame, { keys, issued, timeZone }: IntegrationData): Html => {
  const { integration: words } = frame.words
  const issue =
    may(frame, "key.change") &&
    postForm({
      path: consolePath(frame, "keys"),
      kind: "row wrap",
      body: markup`<input name="name" required maxlength="200" autocomplete="off" aria-label="${words.keyName}" placeholder="${words.keyName}">${lifetimeSelect(frame)}<button class="main">${words.issue}</button>`,
    })
  return markup`<section aria-labelledby="api"><div class="head"><h2 id="api">${words.api}</h2>${issue}</div>${issuedBox(frame, issued)}
<div class="card">${copyField("base", words.base, `${frame.baseUrl}/api/v1`, frame.words.table.copy)}<p class="soft"><a href="${frame.base}/api/v1/docs">${words.docs}</a></p></div>
${keys.items.length === 0 && keys.after === 0 ? markup`<p class="soft">${words.noKeys}</p>` : markup`<div class="card flush"><table class="list stacked"><thead><tr><th scope="col">${frame.words.source.name}</th><th scope="col">${words.prefix}</th><th scope="col" class="wide-only">${words.issuedAt}</th><th scope="col" class="wide-only">${words.lastRequest}</th><th scope="col"><span class="hide">${words.revoke}</span></th></tr></thead><tbody>${keys.items.map((key) => keyLine(frame, key, timeText(timeZone)))}</tbody></table></div>`}${pageLinks(frame, keys, "integrations", "keys_after", "#api")}</section>`
}

/** The button with the form of a new address. */
export const addAddress = (frame: Frame, sources: ReadonlyArray<Source>): HtmlValue => {
  const { integration: words } = frame.words
  return (
    may(frame, "address.change") &&
    menu({
      id: "add-address",
      face: words.addAddress,
      kind: "main",
      body: postForm({
        path: consolePath(frame, "addresses"),
        body: markup`<label>${words.addressUrl}<input name="url" type="url" required autocomplete="off" placeholder="https://"></label>${subscriptionChoice(frame, sources, "all")}${filterChoice(frame, [])}${sendingFields(frame)}${newBody(frame)}<button class="main">${words.addAddress}</button>`,
      }),
    })
  )
}

const addressBlock = (frame: Frame, data: IntegrationData): Html => {
  const { addresses, sources, going, timeZone } = data
  const moment = momentsIn(timeZone)
  const { integration: words } = frame.words
  const line = (address: Address) =>
    markup`<tr id="address-${address.id}"><th scope="row"><a href="${consolePath(frame, `addresses/${address.id}`)}">${shortName(shownUrl(frame, address))}</a>${address.subscription !== null && markup` <span class="soft">${words.agent}: ${address.subscription.agent}</span>`}</th>${goingCells(frame, going.get(address.id), moment)}<td class="n">${addressState(frame, address)}</td></tr>`
  return markup`<section aria-labelledby="delivery"><div class="head"><h2 id="delivery">${words.addresses}</h2>${addAddress(frame, sources)}</div>
${addresses.items.length === 0 && addresses.after === 0 ? markup`<div class="empty"><h2>${words.noAddresses}</h2><p>${words.noAddressesHint}</p></div>` : markup`<div class="card flush"><table class="list"><thead><tr><th scope="col">${words.addressUrl}</th>${goingHeads(frame)}<th scope="col" class="n">${frame.words.event.state}</th></tr></thead><tbody>${addresses.items.map(line)}</tbody></table></div>`}${pageLinks(frame, addresses, "integrations", "after", "#delivery")}</section>`
}

export const integrationScreen = (frame: Frame, data: IntegrationData): Screen => ({
  title: frame.words.sections.integrations,
  section: "integrations",
  main: markup`<div class="head"><h1>${frame.words.sections.integrations}</h1></div>${integrationTabs(frame, "integrations")}${apiBlock(frame, data)}${addressBlock(frame, data)}${reportLoginBlock(frame, data)}`,
})
