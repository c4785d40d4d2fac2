/** The people who may sign in, and one of them: role, one-time link, sessions, and removal by name. */
import { PERSON_ROLES } from "@data-cabinet/core/key/Role"
import { type IssuedLink, type Person, type Session, linkUrl } from "@data-cabinet/core/person/Person"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { badge } from "../html/Badge.ts"
import { options } from "../html/Choice.ts"
import { confirmed } from "../html/Confirmation.ts"
import { copyField } from "../html/Menu.ts"
import { momentsIn } from "../html/Moment.ts"
import { consolePath, type Frame, may, type Screen } from "../html/Shell.ts"
import { actButton, postForm } from "../html/PostForm.ts"
import { type IdPage, pageLinks } from "../screen/IdPages.ts"
import { sessionTable } from "./SessionListScreen.ts"
import { peopleTabs } from "../html/Tabs.ts"
import { isolated } from "../words/IsolatedWords.ts"

export interface PeopleData {
  readonly people: ReadonlyArray<Person>
  readonly timeZone: string
  /** A link that was made by this request: its secret is shown now and never again. */
  readonly issued: IssuedLink | null
}

const roleOptions = ({ words }: Frame, chosen: string): Html =>
  options(
    PERSON_ROLES.map((role) => [role, words.roles[role] ?? role] as const),
    chosen,
  )

const roleHelp = ({ words: { people } }: Frame) =>
  markup`<details><summary>${people.whatRolesMay}</summary><dl class="facts">${PERSON_ROLES.map((role) => markup`<dt>${people.roleNames[role]}</dt><dd>${people.mayDo[role]}</dd>`)}</dl></details>`

const linkBox = (frame: Frame, issued: IssuedLink | null, timeZone: string): HtmlValue => {
  const { people: words, table } = frame.words
  if (issued === null) return null
  const { person, secret, expiresAt } = issued
  return markup`<div class="box good" role="status"><div class="grow"><p><b>${words.linkOnce(person.name)}</b></p>
${copyField("link", words.link, linkUrl(frame.baseUrl, secret), table.copy)}<p class="soft">${words.validUntil} ${momentsIn(timeZone)(expiresAt)}. ${words.linkHint}</p></div></div>`
}

const standing = ({ words: { people: words } }: Frame, person: Person, timeZone: string): HtmlValue => {
  if (person.removedAt !== null) return badge("quiet", words.removed)
  if (person.signedInAt !== null) return momentsIn(timeZone)(person.signedInAt)
  return person.linkExpiresAt === null ? badge("quiet", words.never) : badge("warn", words.invited)
}

const signsIn = ({ words: { people: words } }: Frame, { issuer, hasPassword }: Person): string => {
  if (issuer !== null) return words.issuers[issuer]
  return hasPassword ? words.byPassword : words.byLink
}

/** `links`: to the other pages. */
export const peopleScreen = (frame: Frame, { people, timeZone, issued }: PeopleData, links: HtmlValue): Screen => {
  const { people: words } = frame.words
  const line = (person: Person) =>
    markup`<tr><th scope="row"><a href="${consolePath(frame, `people/${person.id}`)}">${person.name}</a></th><td>${frame.words.roles[person.role] ?? person.role}</td>
<td class="wide-only soft">${signsIn(frame, person)}</td><td class="n">${standing(frame, person, timeZone)}</td></tr>`
  const invite =
    may(frame, "person.change") &&
    markup`<div class="card">${postForm({
      path: consolePath(frame, "people"),
      kind: "row wrap ends",
      body: markup`<label class="grow">${words.name}<input name="name" required maxlength="100" autocomplete="off"></label>
<label>${words.role}<select name="role">${roleOptions(frame, "viewer")}</select></label><button class="main">${words.invite}</button>`,
    })}${roleHelp(frame)}</div>`
  return {
    title: words.title,
    section: "people",
    main: markup`<div class="head"><h1>${words.title}</h1></div>${peopleTabs(frame, "people")}${linkBox(frame, issued, timeZone)}${invite}
${
  people.length === 0
    ? markup`<div class="empty"><h2>${words.none}</h2><p>${words.noneHint}</p></div>`
    : markup`<div class="card flush"><table class="list stacked"><thead><tr><th scope="col">${words.name}</th><th scope="col">${words.role}</th><th scope="col" class="wide-only">${words.signsIn}</th><th scope="col" class="n">${words.lastSignIn}</th></tr></thead><tbody>${people.map(line)}</tbody></table></div>`
}${links}`,
  }
}

export interface PersonData {
  readonly person: Person
  /** A page of the person's sessions. */
  readonly sessions: IdPage<Session>
  /** The id of the visitor's own session; null for a program. */
  readonly current: number | null
  readonly timeZone: string
  readonly issued: IssuedLink | null
}

const settings = (frame: Frame, { person }: PersonData): HtmlValue => {
  const { people: words } = frame.words
  const path = consolePath(frame, `people/${person.id}`)
  if (!may(frame, "person.change")) return null
  const body = markup`<label>${words.name}<input name="name" required maxlength="100" value="${person.name}" autocomplete="off"></label><label>${words.role}<select name="role">${roleOptions(frame, person.role)}</select></label>
<button class="main">${frame.words.save}</button>`
  return markup`<section class="card" aria-labelledby="change"><h2 id="change">${words.change}</h2>${postForm({ path: `${path}/change`, kind: "form", body })}${roleHelp(frame)}</section>`
}

const removal = (frame: Frame, { person }: PersonData): HtmlValue => {
  const { people: words } = frame.words
  if (!may(frame, "person.change") || person.removedAt !== null) return null
  const body = markup`<p>${words.removeHint}</p>
<label>${words.typeName(person.name)}<input name="confirm" required autocomplete="off"></label><button class="danger">${words.remove}</button>`
  return markup`<details class="card"><summary>${words.remove}</summary>${postForm({ path: consolePath(frame, `people/${person.id}/remove`), kind: "form", body })}</details>`
}

/** Issuing one invalidates the link that was issued before. */
const newLink = (frame: Frame, { id, name, linkExpiresAt }: Person): HtmlValue => {
  const { people: words, ask } = frame.words
  const path = consolePath(frame, `people/${id}/link`)
  if (linkExpiresAt === null) return actButton(path, words.newLink, "main")
  return confirmed(frame, {
    id: "new-link",
    face: words.newLink,
    kind: "main",
    says: ask.link(name),
    path,
    act: ask.linkNow,
  })
}

export const personScreen = (frame: Frame, data: PersonData): Screen => {
  const { people: words } = frame.words
  const { person, sessions, timeZone, issued } = data
  const home = `people/${person.id}`
  const path = consolePath(frame, home)
  const moment = momentsIn(timeZone)
  const isWhole = sessions.after === 0 && !sessions.hasMore
  const acts =
    may(frame, "person.change") &&
    markup`<div class="row wrap">${person.issuer === null && newLink(frame, person)}${
      (sessions.items.length > 0 || sessions.after > 0) &&
      confirmed(frame, {
        id: "sign-out-everywhere",
        face: words.signOutEverywhere,
        kind: "",
        says: frame.words.ask.sessions(person.name, isWhole ? sessions.items.length : null),
        path: `${path}/sign-out`,
        act: frame.words.ask.sessionsNow,
      })
    }</div>`
  return {
    title: person.name,
    section: "people",
    main: markup`<p><a href="${consolePath(frame, "people")}">← ${words.title}</a></p>
<div class="head"><h1>${isolated(person.name)} ${badge("quiet", frame.words.roles[person.role] ?? person.role)}</h1></div>${linkBox(frame, issued, timeZone)}
<section class="card" aria-label="${person.name}"><dl class="facts"><dt>${words.signsIn}</dt><dd>${signsIn(frame, person)}</dd><dt>${words.lastSignIn}</dt><dd>${standing(frame, person, timeZone)}</dd><dt>${words.added}</dt><dd>${moment(person.createdAt)}</dd>
${person.linkExpiresAt !== null && markup`<dt>${words.validUntil}</dt><dd>${moment(person.linkExpiresAt)}</dd>`}</dl>${acts}</section>
${settings(frame, data)}<section aria-labelledby="sessions"><h2 id="sessions">${words.sessions}</h2>${sessionTable(frame, { sessions: sessions.items, current: data.current, timeZone }, false)}${pageLinks(frame, sessions, home, "after", "#sessions")}</section>${removal(frame, data)}`,
  }
}
