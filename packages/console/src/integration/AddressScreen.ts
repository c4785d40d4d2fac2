/** The card of a delivery address: its state, its actions, resending after a count, and every attempt. */
import type { Address } from "@data-cabinet/core/delivery/Address"
import type { PingResult } from "@data-cabinet/core/delivery/Addresses"
import type { BodyPreview } from "@data-cabinet/core/delivery/BodyPreview"
import type { BodySetting } from "@data-cabinet/core/delivery/BodySetting"
import type { Attempt } from "@data-cabinet/core/delivery/Attempt"
import type { ResendRange } from "@data-cabinet/core/delivery/DeliveryQueue"
import { SENDING_SETTINGS } from "@data-cabinet/core/delivery/SendingSettings"
import type { Source } from "@data-cabinet/core/source/Source"
import { type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { confirmed } from "../html/Confirmation.ts"
import { shortName, shortText } from "../html/LongText.ts"
import { copyField } from "../html/Menu.ts"
import { consolePath, type Frame, may, type Screen } from "../html/Shell.ts"
import type { FilterTest } from "@data-cabinet/core/delivery/TestFilter"
import { bodyCard, previewPanes } from "./BodyFields.ts"
import { certificateFacts, certificateRemoval } from "./ClientCertificateFields.ts"
import { filterChoice, filterText } from "./FilterChoice.ts"
import { type KnownPaths, namesList } from "./KnownPaths.ts"
import { headersCard } from "./HeadersCard.ts"
import { settingFacts } from "../screen/SettingFields.ts"
import { sendingFields } from "./SendingFields.ts"
import { subscriptionChoice } from "./SubscriptionChoice.ts"
import { actButton, postForm } from "../html/PostForm.ts"
import { addressState, shownUrl } from "./IntegrationScreen.ts"
import { positionFacts, skipForm, subscriptionFacts } from "./OrderFacts.ts"
import { timeText } from "../html/Moment.ts"
import { attemptTable } from "./AttemptTimeline.ts"

export interface AddressData {
  readonly address: Address
  readonly sources: ReadonlyArray<Source>
  readonly attempts: ReadonlyArray<Attempt>
  readonly timeZone: string
  readonly known: KnownPaths
  /** Shown in the response to an action. */
  readonly shows?:
    | { readonly is: "secret" }
    | { readonly is: "ping"; readonly result: PingResult }
    | { readonly is: "test"; readonly result: FilterTest }
    | { readonly is: "preview"; readonly result: BodyPreview; readonly body: BodySetting }
    | { readonly is: "count"; readonly range: ResendRange; readonly count: number }
}

const outcome = (frame: Frame, { status, failure, durationMs }: Pick<Attempt, "status" | "failure" | "durationMs">) =>
  `${status ?? failure ?? ""} · ${frame.words.integration.millis(durationMs)}`

const shown = (frame: Frame, { address, shows }: AddressData): HtmlValue => {
  const { integration: words, table } = frame.words
  if (shows === undefined) return null
  const path = consolePath(frame, `addresses/${address.id}`)
  switch (shows.is) {
    case "secret":
      return markup`<div class="box good" role="status"><div class="grow">${copyField("secret", words.secret, address.secret, table.copy)}</div></div>`
    case "ping": {
      const { result } = shows
      return markup`<div class="box ${result.delivered ? "good" : "error"}" role="status"><div><p><b>${result.delivered ? words.pingWell : words.pingBadly}</b> ${outcome(frame, result)}${result.peer !== null && ` · ${result.peer}`}</p>${result.responseBody !== null && markup`<pre class="text">\n${result.responseBody}</pre>`}</div></div>`
    }
    case "test":
      return testResult(frame, shows.result)
    case "preview":
      return previewPanes(frame, shows.result)
    case "count": {
      const { range, count } = shows
      const hidden = (["from", "to", "only"] as const).map(
        (name) => markup`<input type="hidden" name="${name}" value="${range[name]}">`,
      )
      return markup`<div class="box" role="status"><div class="grow"><p><b>${words.willSend(count)}</b></p><p class="soft">${range.from} – ${range.to}</p>
${count > 0 && postForm({ path: `${path}/resend`, body: markup`${hidden}<input type="hidden" name="confirm" value="yes"><button class="main">${words.sendNow}</button>` })}</div></div>`
    }
  }
}

const testResult = (frame: Frame, { eventId, passes, reasons, conditions, deliveryId }: FilterTest): HtmlValue => {
  const { integration: words, table, event } = frame.words
  const why = reasons
    .filter(({ code }) => code !== "condition")
    .map(({ code }) => markup`<li>${words.notSent[code]}</li>`)
  const judged = conditions.map(
    (condition) =>
      markup`<li><b>${filterText(frame, [condition])}</b>: ${condition.holds ? words.holds : words.holdsNot} <span class="soft">${condition.value ?? table.null}</span></li>`,
  )
  return markup`<div class="box ${passes ? "good" : "error"}" role="status"><div><p><b>${passes ? words.passes : words.passesNot}</b> <a href="${consolePath(frame, `events/${eventId}`)}">${event.title} ${eventId}</a>${
    deliveryId !== null &&
    markup` · <a href="${consolePath(frame, `deliveries/${deliveryId}`)}">${words.delivery} ${deliveryId}</a>`
  }</p><ul>${why}${judged}</ul></div></div>`
}

const testForm = (frame: Frame, { address }: AddressData): HtmlValue => {
  const { integration: words } = frame.words
  return markup`<section class="card" aria-labelledby="test"><h2 id="test">${words.testFilter}</h2>${postForm({
    path: consolePath(frame, `addresses/${address.id}/test`),
    kind: "row wrap ends",
    body: markup`<label>${words.eventNumber} <input name="event" inputmode="numeric" pattern="[0-9]+" required autocomplete="off"></label><button>${words.test}</button>`,
  })}</section>`
}

const acts = (frame: Frame, { address }: AddressData): HtmlValue => {
  const { integration: words } = frame.words
  const path = consolePath(frame, `addresses/${address.id}`)
  if (!may(frame, "address.change")) return null
  const pause =
    address.pausedAt === null ? actButton(`${path}/pause`, words.pause) : actButton(`${path}/resume`, words.resume)
  // Everything else is decided by its agent.
  if (address.subscription !== null) return markup`<div class="row wrap">${pause}</div>`
  return markup`<div class="row wrap">${actButton(`${path}/ping`, words.check, "main")}${pause}${actButton(`${path}/reveal`, words.showSecret)}${confirmed(
    frame,
    {
      id: "rotate",
      face: words.newSecret,
      kind: "",
      says: frame.words.ask.secret(shortText(shownUrl(frame, address))),
      path: `${path}/rotate`,
      act: frame.words.ask.secretNow,
    },
  )}</div>`
}

const resendForm = (frame: Frame, { address }: AddressData): HtmlValue => {
  const { integration: words, table } = frame.words
  return (
    may(frame, "delivery.change") &&
    markup`<section class="card" aria-labelledby="resend"><h2 id="resend">${words.sendAgain}</h2>${postForm({
      path: consolePath(frame, `addresses/${address.id}/resend`),
      kind: "row wrap ends",
      body: markup`<label>${table.from} (UTC) <input type="datetime-local" name="from" required step="1"></label><label>${table.to} (UTC) <input type="datetime-local" name="to" required step="1"></label>
<fieldset><label class="choice"><input type="radio" name="only" value="failed" checked> ${words.onlyFailed}</label><label class="choice"><input type="radio" name="only" value="all"> ${words.everything}</label></fieldset>
<button>${words.countFirst}</button>`,
    })}</section>`
  )
}

const settings = (frame: Frame, { address, sources, known }: AddressData): HtmlValue => {
  const { integration: words } = frame.words
  return (
    address.subscription === null &&
    may(frame, "address.change") &&
    markup`<section class="card" aria-labelledby="change"><h2 id="change">${words.settings}</h2>${postForm({
      path: consolePath(frame, `addresses/${address.id}/change`),
      kind: "form",
      body: markup`<label>${words.addressUrl}<input name="url" type="url" required value="${address.url}" autocomplete="off"></label>${subscriptionChoice(frame, sources, address.sources)}${filterChoice(frame, address.filters)}${namesList(known)}${sendingFields(frame, address)}<button class="main">${frame.words.save}</button>`,
    })}</section>`
  )
}

const sendingFacts = (frame: Frame, address: Address): HtmlValue => {
  const { headerNames } = address
  const { integration: words, poll } = frame.words
  return markup`${headerNames.length > 0 && markup`<dt>${poll.header}</dt><dd class="mono">${headerNames.join(", ")}</dd>`}${settingFacts(frame, SENDING_SETTINGS, address, words.setting)}`
}

export const addressScreen = (frame: Frame, data: AddressData): Screen => {
  const { integration: words, event } = frame.words
  const { address, attempts } = data
  const subscribed =
    address.sources === "all"
      ? words.allSources
      : data.sources
          .filter(({ id }) => address.sources.includes(id as never))
          .map(({ name }) => name)
          .join(", ")
  const url = shownUrl(frame, address)
  const time = timeText(data.timeZone)
  const remove =
    may(frame, "address.change") &&
    markup`<details class="card"><summary>${words.remove}</summary><p>${words.removeHint}</p>${actButton(consolePath(frame, `addresses/${address.id}/remove`), words.remove, "danger")}</details>`
  return {
    title: shortText(url),
    section: "integrations",
    main: markup`<p><a href="${consolePath(frame, "integrations")}">← ${frame.words.sections.integrations}</a></p>
<div class="head"><h1>${shortName(url)} ${addressState(frame, address)}</h1></div>
${shown(frame, data)}<section class="card"><dl class="facts">${url !== shortText(url) && markup`<dt>${words.addressUrl}</dt><dd><details><summary>${frame.words.showAll(url.length)}</summary>${url}</details></dd>`}${subscriptionFacts(frame, address, data.timeZone)}<dt>${words.subscribesTo}</dt><dd>${subscribed}</dd>${address.filters.length > 0 && markup`<dt>${words.onlyWhere}</dt><dd>${filterText(frame, address.filters)}</dd><dt>${words.filteredEvents}</dt><dd>${frame.words.table.number(address.filteredEvents)}</dd>`}${sendingFacts(frame, address)}${positionFacts(frame, address, data.timeZone)}${certificateFacts(frame, address, data.timeZone)}${address.pausedAt !== null && markup`<dt>${words.pausedSince}</dt><dd>${time(address.pausedAt)}${address.pausedBecause !== null && `: ${words.pausedBecause[address.pausedBecause]}`}</dd>`}${address.failingSince !== null && markup`<dt>${words.failingSince}</dt><dd>${time(address.failingSince)}</dd>`}</dl>${acts(frame, data)}</section>
<div class="sides"><section aria-labelledby="attempts"><h2 id="attempts">${event.attempts}</h2>${attemptTable(frame, attempts, data.timeZone)}</section>
<div>${resendForm(frame, data)}${skipForm(frame, address)}${testForm(frame, data)}${settings(frame, data)}${bodyCard(frame, address, data.shows?.is === "preview" ? data.shows : null, data.known)}${headersCard(frame, address)}${certificateRemoval(frame, address)}${remove}</div></div>`,
  }
}
