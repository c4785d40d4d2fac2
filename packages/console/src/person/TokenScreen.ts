/** The access tokens of programs: issued for a role and a time, shown once, revoked at once. */
import type { AccessToken, IssuedAccessToken } from "@data-cabinet/core/key/AccessToken"
import { ROLES } from "@data-cabinet/core/key/Role"
import type { Table } from "@data-cabinet/core/row/Table"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { badge } from "../html/Badge.ts"
import { options } from "../html/Choice.ts"
import { confirmed } from "../html/Confirmation.ts"
import { copyField } from "../html/Menu.ts"
import { momentsIn, type ShowMoment } from "../html/Moment.ts"
import { consolePath, type Frame, may, type Screen } from "../html/Shell.ts"
import { postForm } from "../html/PostForm.ts"
import { lifetimeSelect } from "./Lifetime.ts"
import { peopleTabs } from "../html/Tabs.ts"
import { type IdPage, pageLinks } from "../screen/IdPages.ts"

export interface TokenData {
  /** The objects to which a reader's token may be limited. */
  readonly tables: ReadonlyArray<Table>
  readonly tokens: IdPage<AccessToken>
  readonly timeZone: string
  /** The token that was issued by this request: shown now and never again. */
  readonly issued: IssuedAccessToken | null
}

const onlyChoice = (
  {
    words: {
      people: words,
      tables: { kinds },
    },
  }: Frame,
  tables: ReadonlyArray<Table>,
): HtmlValue =>
  tables.length > 0 &&
  markup`<details><summary>${words.onlyThese}</summary><p class="soft">${words.onlyHint}</p><div class="scroll inset">${tables.map(
    ({ schema, name, kind, source }) =>
      markup`<label class="choice"><input type="checkbox" name="only" value="${schema}.${name}"> <span><bdi class="mono">${schema}.${name}</bdi> <bdi class="soft">${source === null ? kinds[kind] : words.ofSource(source.name)}</bdi></span></label>`,
  )}</div></details>`

/** More are listed on request. */
const LISTED_AT_ONCE = 3

/** The objects that a reader's token lists, by their current names. */
const listed = ({ words: { people: words } }: Frame, only: AccessToken["only"]): HtmlValue => {
  if (only === null) return null
  if (only.length === 0) return markup`<small>${words.onlyNothing}</small>`
  const names = only.map((name) => markup`<small class="mono">${name}</small>`)
  return only.length <= LISTED_AT_ONCE
    ? names
    : markup`<details><summary>${words.onlyCount(only.length)}</summary>${names}</details>`
}

const issuedBox = (frame: Frame, issued: IssuedAccessToken | null): HtmlValue => {
  const { people: words, table } = frame.words
  if (issued === null) return null
  const path = issued.role === "reader" ? "/api/v1/tables" : "/manage/v1/me"
  const call = `curl -H "Authorization: Bearer ${issued.token}" ${frame.baseUrl}${path}`
  return markup`<div class="box good" role="status"><div class="grow"><p><b>${words.tokenOnce}</b></p>${copyField("issued", issued.name, issued.token, table.copy)}${copyField("issued-curl", "curl", call, table.copy)}</div></div>`
}

const state = ({ words: { people: words } }: Frame, token: AccessToken, moment: ShowMoment): HtmlValue => {
  if (token.revokedAt !== null) return markup`<td class="wide-only">${badge("quiet", words.revoked)}</td>`
  return token.expiresAt === null
    ? markup`<td>${words.forEver}</td>`
    : markup`<td data-label="${words.validUntil}">${moment(token.expiresAt)}</td>`
}

const revokeToken = (frame: Frame, { id, name, prefix }: AccessToken): Html =>
  confirmed(frame, {
    id: `revoke-token-${id}`,
    face: frame.words.integration.revoke,
    says: frame.words.ask.token(name, prefix),
    path: consolePath(frame, `tokens/${id}/revoke`),
    act: frame.words.ask.tokenNow,
  })

export const tokenScreen = (frame: Frame, { tokens, tables, timeZone, issued }: TokenData): Screen => {
  const { people: words, integration } = frame.words
  const moment = momentsIn(timeZone)
  const line = (token: AccessToken) =>
    markup`<tr><th scope="row">${token.name}<small class="mono nowrap">${token.prefix}…</small></th><td>${frame.words.roles[token.role] ?? token.role}${listed(frame, token.only)}</td><td class="wide-only">${moment(token.createdAt)}</td><td class="wide-only">${moment(token.lastUsedAt)}</td>${state(frame, token, moment)}
<td class="n">${token.revokedAt === null ? may(frame, "token.change") && revokeToken(frame, token) : badge("quiet", words.revoked)}</td></tr>`
  const issue =
    may(frame, "token.change") &&
    postForm({
      path: consolePath(frame, "tokens"),
      kind: "card row wrap ends",
      body: markup`<label class="grow">${words.tokenName}<input name="name" required maxlength="200" autocomplete="off"></label>
<label>${words.role}<select name="role">${options(
        ROLES.map((role) => [role, frame.words.roles[role] ?? role] as const),
        "uploader",
      )}</select></label><label>${words.lifetime}${lifetimeSelect(frame)}</label><button class="main">${words.issueToken}</button>${onlyChoice(frame, tables)}`,
    })
  return {
    title: words.tokens,
    section: "people",
    main: markup`<div class="head"><h1>${words.tokens}</h1></div>${peopleTabs(frame, "tokens")}${issuedBox(frame, issued)}${issue}
${
  tokens.items.length === 0 && tokens.after === 0
    ? markup`<div class="empty"><h2>${words.noTokens}</h2><p>${words.noTokensHint}</p></div>`
    : markup`<div class="card flush"><table class="list stacked"><thead><tr><th scope="col">${words.name}</th><th scope="col">${words.role}</th><th scope="col" class="wide-only">${integration.issuedAt}</th><th scope="col" class="wide-only">${words.lastUse}</th><th scope="col">${words.validUntil}</th><th scope="col"><span class="hide">${integration.revoke}</span></th></tr></thead><tbody>${tokens.items.map(line)}</tbody></table></div>`
}${pageLinks(frame, tokens, "tokens")}`,
  }
}
