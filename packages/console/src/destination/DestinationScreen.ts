/** The destinations of the feed: where each is, how far it has come, and why it waits. */
import type { Destination } from "@data-cabinet/core/destination/Destination"
import { MOST_BEHIND } from "@data-cabinet/core/follower/FollowerStore"
import type { Source } from "@data-cabinet/core/source/Source"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { badge } from "../html/Badge.ts"
import { confirmed } from "../html/Confirmation.ts"
import { failureText } from "../html/FailureText.ts"
import { momentsIn } from "../html/Moment.ts"
import { actButton } from "../html/PostForm.ts"
import { consolePath, type Frame, may, type Screen } from "../html/Shell.ts"
import { integrationTabs } from "../html/Tabs.ts"
import { addDestination, changeDestination, FORMATS } from "./DestinationForm.ts"

interface DestinationData {
  readonly destinations: ReadonlyArray<Destination>
  readonly sources: ReadonlyArray<Source>
  readonly timeZone: string
}

const state = ({ words: { destination: words } }: Frame, { paused, failures, behind }: Destination): Html => {
  if (paused) return badge("quiet", words.paused)
  if (failures > 0) return badge("bad", words.failing(failures))
  return behind > 0 ? badge("warn", words.waiting) : badge("good", words.upToDate)
}

const acts = (frame: Frame, { id, location, paused, failures }: Destination): HtmlValue => {
  if (!may(frame, "destination.change")) return null
  const { destination: words } = frame.words
  const path = consolePath(frame, `destinations/${id}`)
  const again = failures > 0 && !paused && actButton(`${path}/resume`, words.retry, "main")
  const restart = confirmed(frame, {
    id: `restart-${id}`,
    face: words.restart,
    kind: "",
    says: words.restartSays(location),
    path: `${path}/restart`,
    act: words.restartNow,
  })
  const remove = confirmed(frame, {
    id: `remove-${id}`,
    face: words.remove,
    says: words.removeSays(location),
    path: `${path}/remove`,
    act: words.removeNow,
  })
  return markup`<div class="row wrap">${again}${paused ? actButton(`${path}/resume`, words.resume, "main") : actButton(`${path}/pause`, words.pause)}${restart}${remove}</div>`
}

/** The sources by name; one that was deleted by its number. */
const sourceNames = (frame: Frame, { sources: ids }: Destination, all: ReadonlyArray<Source>): string =>
  ids === null
    ? frame.words.destination.allSources
    : ids.map((id) => all.find((source) => source.id === id)?.name ?? `#${id}`).join(", ")

const card = (frame: Frame, one: Destination, { sources, timeZone }: DestinationData): Html => {
  const { destination: words, table } = frame.words
  const moment = momentsIn(timeZone)
  const {
    id,
    location,
    format,
    endpoint,
    region,
    hasCredentials,
    eventId,
    movedAt,
    behind,
    behindSeconds,
    error,
    retryAt,
  } = one
  const fact = (name: string, value: HtmlValue) => value !== null && markup`<dt>${name}</dt><dd>${value}</dd>`
  const most = behind === MOST_BEHIND ? "+" : ""
  return markup`<section class="card" aria-labelledby="destination-${id}"><h2 id="destination-${id}"><bdi class="mono">${location}</bdi> ${state(frame, one)}</h2>
${error !== null && markup`<div class="box warn"><p>${failureText(frame, error)}${retryAt !== null && markup`<small>${words.retryAt} ${moment(retryAt)}</small>`}</p></div>`}
<dl class="facts">${fact(words.lastWritten, movedAt === null ? words.nothingYet : moment(movedAt))}${fact(words.lastEvent, eventId === null ? null : markup`<a href="${consolePath(frame, `events/${eventId}`)}">${eventId}</a>`)}
${fact(words.behind, behind === 0 ? null : `${table.number(behind)}${most}, ${words.since(Math.round(behindSeconds))}`)}${fact(words.format, FORMATS[format])}${fact(words.sources, sourceNames(frame, one, sources))}${fact(words.setting.label.endpoint, endpoint)}${fact(words.setting.label.region, region)}${fact(words.credentials, hasCredentials ? words.credentialsThere : null)}</dl>${acts(frame, one)}${may(frame, "destination.change") && changeDestination(frame, one)}</section>`
}

export const destinationListScreen = (frame: Frame, data: DestinationData): Screen => {
  const { destination: words, sections } = frame.words
  return {
    title: words.title,
    section: "integrations",
    main: markup`<div class="head"><h1>${sections.integrations}</h1>${addDestination(frame, data.sources)}</div>${integrationTabs(frame, "destinations")}<p class="soft">${words.about}</p>
${data.destinations.length === 0 ? markup`<div class="empty"><h2>${words.none}</h2><p>${words.noneHint}</p></div>` : data.destinations.map((one) => card(frame, one, data))}`,
  }
}
