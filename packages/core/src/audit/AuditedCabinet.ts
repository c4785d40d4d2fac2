/**
 * The use cases that change a cabinet, with each act written to the audit log. All of them are wrapped here, so that
 * the management API, the command and the embedding program write the same. A method that is missing here does not
 * compile. Null marks a method that changes and reveals nothing, or that only the cabinet itself calls.
 *
 * Decision: docs/decisions/0043-roles-and-the-audit-log.md
 */
import { Effect, Layer } from "effect"
import type { AddressChange } from "../delivery/Address.ts"
import { Addresses } from "../delivery/Addresses.ts"
import { certificateIn } from "../delivery/ClientCertificate.ts"
import { Deliveries } from "../delivery/Deliveries.ts"
import type { DeliveryFilter } from "../delivery/DeliveryQueue.ts"
import { Erasure } from "../event/Erasure.ts"
import { Rereading } from "../event/Rereading.ts"
import { Trash } from "../event/Trash.ts"
import { Followers } from "../follower/Followers.ts"
import { Import } from "../file/Import.ts"
import { Imports } from "../file/Imports.ts"
import { AccessTokens } from "../key/AccessTokens.ts"
import { ApiKeys } from "../key/ApiKeys.ts"
import { maskUrl } from "../network/MaskedUrl.ts"
import { Notices } from "../notice/Notices.ts"
import { People } from "../person/People.ts"
import { Sessions } from "../person/Sessions.ts"
import type { PollChange } from "../poll/Poll.ts"
import { Polls } from "../poll/Polls.ts"
import { ColumnIndexes } from "../row/ColumnIndexes.ts"
import { LatestViews } from "../row/LatestViews.ts"
import { ReportLogin } from "../row/ReportLogin.ts"
import { SchemaGrants } from "../row/SchemaGrants.ts"
import { SearchIndex } from "../row/SearchIndex.ts"
import { SourceColumns } from "../row/SourceColumns.ts"
import type { RebuildWishes } from "../row/RebuildStore.ts"
import { TableRebuild } from "../row/TableRebuild.ts"
import { type SourceChange, Sources } from "../source/Sources.ts"
import { LateVerification } from "../verification/LateVerification.ts"
import { SavedViews } from "../view/SavedViews.ts"
import { AuditLog } from "./AuditLog.ts"
import { type Act, managed } from "./Managed.ts"

type Acts<S> = {
  readonly [K in keyof S]: S[K] extends (...args: infer A) => Effect.Effect<unknown, unknown>
    ? ((...args: A) => Act) | null
    : null
}

const audited = <S extends object>(log: AuditLog["Service"], service: S, acts: Acts<S>): S => {
  const wrapped = { ...service } as Record<string, unknown>
  for (const [name, act] of Object.entries<((...args: Array<unknown>) => Act) | null>(acts as never)) {
    if (act === null) continue
    const method = (service as Readonly<Record<string, (...args: Array<unknown>) => Effect.Effect<unknown, unknown>>>)[
      name
    ]!
    wrapped[name] = (...args: Array<unknown>) =>
      managed(
        log,
        act(...args),
        Effect.suspend(() => method(...args)),
      )
  }
  return wrapped as S
}

const maskedUrl = (changes: { readonly url?: string; readonly [field: string]: unknown }): Act["changes"] =>
  changes.url === undefined ? { ...changes } : { ...changes, url: maskUrl(changes.url) }

const act = (action: string, object: string | null, changes: Act["changes"] = {}): Act => ({ action, object, changes })
const making = (action: string, makes: string, changes: Act["changes"]): Act => ({
  action,
  object: null,
  changes,
  makes,
})

/** The most event numbers listed in an entry. */
const MAX_LISTED_EVENTS = 100
const some = (events: ReadonlyArray<number>) => ({ count: events.length, events: events.slice(0, MAX_LISTED_EVENTS) })

/** The given settings, without secrets. */
const settingsGiven = ({ verify, challenge, ...settings }: SourceChange): Act["changes"] => ({
  ...settings,
  ...(verify === undefined ? {} : { verify: verify === null ? null : withoutSecret(verify) }),
  ...(challenge === undefined ? {} : { challenge: challenge === null ? null : withoutSecret(challenge) }),
})

const withoutSecret = ({ secret, ...given }: { readonly secret?: string }) => ({
  ...given,
  secret: secret === undefined ? "kept" : "new",
})

const SOURCES: Acts<Sources["Service"]> = {
  create: (source) => making("source.create", "source", settingsGiven(source)),
  list: null,
  get: null,
  reveal: (id) => act("source.reveal", `source ${id}`),
  change: (id, change) => act("source.change", `source ${id}`, settingsGiven(change)),
  archive: (id) => act("source.archive", `source ${id}`),
  restore: (id) => act("source.restore", `source ${id}`),
  remove: (id, table) => act("source.delete", `source ${id}`, { table }),
  rotateSecret: (id, { keepOldSeconds = null } = {}) =>
    act("source.rotate_secret", `source ${id}`, keepOldSeconds === null ? {} : { keep_old_seconds: keepOldSeconds }),
  bySecret: null,
  cached: null,
  forIntake: null,
}

const COLUMNS: Acts<SourceColumns["Service"]> = {
  list: null,
  relabel: (id, column, label) => act("column.relabel", `source ${id} column ${column}`, { label }),
  retype: (id, column, type, { withViews, notation }) =>
    act("column.retype", `source ${id} column ${column}`, { type, with_views: withViews, ...notation }),
  tryRetype: null,
  drop: (id, column) => act("column.drop", `source ${id} column ${column}`),
}

const rebuilding = (id: number, { columns, withoutEmpty, nestBrackets }: RebuildWishes): Act =>
  act("table.rebuild", `source ${id}`, { columns, without_empty: withoutEmpty, nest_brackets: nestBrackets })

const REBUILDS: Acts<TableRebuild["Service"]> = {
  plan: null,
  run: rebuilding,
  start: rebuilding,
  state: null,
  cancel: (id) => act("table.cancel_rebuild", `source ${id}`),
}

/** A view's selection may contain a person's search values, so it is not logged. */
const VIEWS: Acts<SavedViews["Service"]> = {
  save: ({ title, schema, name, shared }) => making("view.save", "view", { title, schema, name, shared }),
  list: null,
  get: null,
  remove: (id) => act("view.remove", `view ${id}`),
}

const TRASH: Acts<Trash["Service"]> = {
  trash: (id, events) => act("event.trash", `source ${id}`, some(events)),
  untrash: (id, events) => act("event.restore", `source ${id}`, some(events)),
  purge: (events) => act("event.purge", null, some(events)),
}

/** The values are the data to be erased: only the fields are logged. */
const ERASURE: Acts<Erasure["Service"]> = {
  find: null,
  erase: ({ filters, sourceId, after }) =>
    act("event.erase", sourceId === null ? null : `source ${sourceId}`, {
      conditions: filters.map(({ fc, fo }) => `${fc} ${fo}`),
      continued: after > 0,
    }),
}

const LATE_VERIFICATION: Acts<LateVerification["Service"]> = {
  events: (events, { deliver }) => act("event.verify", null, { ...some(events), deliver }),
  source: ({ sourceId, deliver, cursor }) =>
    act("event.verify", `source ${sourceId}`, { deliver, continued: cursor !== undefined }),
  trySource: null,
}

const REREADING: Acts<Rereading["Service"]> = {
  events: (events, { encoding, allValues, deliver }) =>
    act("event.reread", null, { ...some(events), encoding, all_values: allValues, deliver }),
  tryEvents: null,
  source: ({ sourceId, encoding, allValues, deliver, cursor }) =>
    act("event.reread", `source ${sourceId}`, {
      encoding,
      all_values: allValues,
      deliver,
      continued: cursor !== undefined,
    }),
  trySource: null,
}

const FOLLOWERS: Acts<Followers["Service"]> = {
  list: null,
  reset: (id, to) => act("follower.reset", `follower ${id}`, { to }),
  remove: (id) => act("follower.remove", `follower ${id}`),
}

const KEYS: Acts<ApiKeys["Service"]> = {
  issue: (name, expiresInSeconds = null) => making("key.issue", "key", { name, expires_in_seconds: expiresInSeconds }),
  rotate: (id, { keepOldSeconds = null } = {}) => act("key.rotate", `key ${id}`, { keep_old_seconds: keepOldSeconds }),
  list: null,
  revoke: (id) => act("key.revoke", `key ${id}`),
}

const TOKENS: Acts<AccessTokens["Service"]> = {
  issue: ({ name, role, expiresInSeconds, only = null }) =>
    making("token.issue", "token", {
      name,
      role,
      expires_in_seconds: expiresInSeconds,
      ...(only === null ? {} : { only }),
    }),
  list: null,
  revoke: (id) => act("token.revoke", `token ${id}`),
  find: null,
}

const PEOPLE: Acts<People["Service"]> = {
  add: (person) => making("person.add", "person", { ...person }),
  list: null,
  get: null,
  set: (id, change) => act("person.change", `person ${id}`, { ...change }),
  remove: (id) => act("person.remove", `person ${id}`),
  link: (id) => act("person.link", `person ${id}`),
  setPassword: ({ personId }) => act("person.set_password", `person ${personId}`),
  resolveExternal: null,
}

const SESSIONS: Acts<Sessions["Service"]> = {
  find: null,
  peek: null,
  list: null,
  end: (id) => act("session.end", `session ${id}`),
  endAll: (id) => act("session.end_all", `person ${id}`),
}

const addressChanges = (made: AddressChange): Act["changes"] => {
  const { headers, setHeaders, removeHeaders, clientIdentity, ...change } = made
  return {
    ...maskedUrl({ ...change }),
    ...(clientIdentity === undefined
      ? {}
      : { client_certificate: certificateIn(clientIdentity?.certificate ?? "")?.fingerprint ?? null }),
    ...(headers === undefined ? {} : { header_names: headers.map(([name]) => name) }),
    ...(setHeaders === undefined ? {} : { set_header_names: setHeaders.map(([name]) => name) }),
    ...(removeHeaders === undefined ? {} : { removed_header_names: removeHeaders }),
  }
}

const ADDRESSES: Acts<Addresses["Service"]> = {
  create: (address) => making("address.create", "address", addressChanges(address)),
  list: null,
  get: null,
  reveal: (id) => act("address.reveal", `address ${id}`),
  set: (id, change) => act("address.change", `address ${id}`, addressChanges(change)),
  remove: (id) => act("address.remove", `address ${id}`),
  pause: (id) => act("address.pause", `address ${id}`),
  resume: (id) => act("address.resume", `address ${id}`),
  rotateSecret: (id) => act("address.rotate_secret", `address ${id}`),
  ping: (id) => act("address.ping", `address ${id}`),
  preview: null,
  skip: (id, { eventId, reason }) => act("address.skip", `address ${id}`, { event_id: eventId, reason }),
  test: null,
}

/** The parts of a filter that narrow it. */
const chosen = (filter: DeliveryFilter) =>
  Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== null && value !== false))

const DELIVERIES: Acts<Deliveries["Service"]> = {
  find: null,
  ofEvent: null,
  log: null,
  resend: (id) => act("delivery.resend", `delivery ${id}`),
  resendRange: ({ addressId, ...range }) => act("address.resend", `address ${addressId}`, range),
  countRange: null,
  resendListed: (filter) => act("delivery.resend", null, chosen(filter)),
  countListed: null,
  list: null,
  attemptsOf: null,
  requestOf: null,
  cancel: (id) => act("delivery.cancel", `delivery ${id}`),
}

const pollChanges = ({ headers, url, ...change }: PollChange): Act["changes"] => ({
  ...(url === undefined ? {} : maskedUrl({ url })),
  ...change,
  ...(headers === undefined ? {} : { header_names: headers.map(([name]) => name) }),
})

const POLLS: Acts<Polls["Service"]> = {
  add: ({ headers = [], ...poll }) =>
    making("poll.add", "poll", { ...maskedUrl(poll), header_names: headers.map(([name]) => name) }),
  list: null,
  get: null,
  change: (id, change) => act("poll.change", `poll ${id}`, pollChanges(change)),
  pause: (id) => act("poll.pause", `poll ${id}`),
  resume: (id) => act("poll.resume", `poll ${id}`),
  remove: (id) => act("poll.remove", `poll ${id}`),
  log: null,
  run: (id) => act("poll.run", `poll ${id}`),
  tryAdd: ({ headers = [], ...poll }) =>
    act("poll.try", `source ${poll.sourceId}`, { ...maskedUrl(poll), header_names: headers.map(([name]) => name) }),
  tryChange: (id, change) => act("poll.try", `poll ${id}`, pollChanges(change)),
}

const NOTICES: Acts<Notices["Service"]> = {
  show: null,
  switchOn: () => act("notices.on", null),
  switchOff: () => act("notices.off", null),
}

const IMPORTS: Acts<Import["Service"]> = {
  file: (id, file, options) =>
    act("file.import", `source ${id}`, { file: file.name, dry_run: options.dryRun ?? false }),
}

const UNDONE_IMPORTS: Acts<Imports["Service"]> = {
  list: null,
  get: null,
  tryUndo: null,
  cancel: (id) => act("file.cancel", `import ${id}`),
  undo: (id) => act("file.undo", `import ${id}`),
  continueUndo: null,
  continueAll: null,
}

const INDEXES: Acts<SearchIndex["Service"]> = {
  list: null,
  build: (schema, name) => act("search_index.build", `table ${schema}.${name}`),
  drop: (schema, name) => act("search_index.drop", `table ${schema}.${name}`),
}

const COLUMN_INDEXES: Acts<ColumnIndexes["Service"]> = {
  list: null,
  build: (schema, name, columns) => act("index.build", `table ${schema}.${name}`, { columns }),
  drop: (schema, name, index) => act("index.drop", `table ${schema}.${name}`, { index }),
}

const LATEST_VIEWS: Acts<LatestViews["Service"]> = {
  show: null,
  create: ({ schema, name, keys, by, view, replace }) =>
    act("latest_view.create", `table ${schema}.${name}`, { keys, by, view, replace }),
}

const GRANTS: Acts<SchemaGrants["Service"]> = {
  expose: (schema) => act("schema.expose", `schema ${schema}`),
  hide: (schema) => act("schema.hide", `schema ${schema}`),
  add: (schema) => act("schema.add", `schema ${schema}`),
}

/** Never logs the password. */
const REPORT_LOGIN: Acts<ReportLogin["Service"]> = {
  get: null,
  issue: () => act("report_login.issue", null),
  revoke: () => act("report_login.revoke", null),
}

const over = <I, S extends object>(
  key: Effect.Effect<S, never, I>,
  provide: (service: S) => Layer.Layer<I>,
  acts: Acts<S>,
) => Layer.unwrap(Effect.zipWith(AuditLog, key, (log, service) => provide(audited(log, service, acts))))

/** Wraps a cabinet's use cases: the same services, audited. */
export const layer = Layer.mergeAll(
  over(Sources, (service) => Layer.succeed(Sources, service), SOURCES),
  over(SourceColumns, (service) => Layer.succeed(SourceColumns, service), COLUMNS),
  over(TableRebuild, (service) => Layer.succeed(TableRebuild, service), REBUILDS),
  over(SavedViews, (service) => Layer.succeed(SavedViews, service), VIEWS),
  over(Trash, (service) => Layer.succeed(Trash, service), TRASH),
  over(Erasure, (service) => Layer.succeed(Erasure, service), ERASURE),
  over(LateVerification, (service) => Layer.succeed(LateVerification, service), LATE_VERIFICATION),
  over(Rereading, (service) => Layer.succeed(Rereading, service), REREADING),
  over(Followers, (service) => Layer.succeed(Followers, service), FOLLOWERS),
  over(ApiKeys, (service) => Layer.succeed(ApiKeys, service), KEYS),
  over(AccessTokens, (service) => Layer.succeed(AccessTokens, service), TOKENS),
  over(People, (service) => Layer.succeed(People, service), PEOPLE),
  over(Sessions, (service) => Layer.succeed(Sessions, service), SESSIONS),
  over(Addresses, (service) => Layer.succeed(Addresses, service), ADDRESSES),
  over(Deliveries, (service) => Layer.succeed(Deliveries, service), DELIVERIES),
  over(Polls, (service) => Layer.succeed(Polls, service), POLLS),
  over(Notices, (service) => Layer.succeed(Notices, service), NOTICES),
  over(Import, (service) => Layer.succeed(Import, service), IMPORTS),
  over(Imports, (service) => Layer.succeed(Imports, service), UNDONE_IMPORTS),
  over(SearchIndex, (service) => Layer.succeed(SearchIndex, service), INDEXES),
  over(ColumnIndexes, (service) => Layer.succeed(ColumnIndexes, service), COLUMN_INDEXES),
  over(LatestViews, (service) => Layer.succeed(LatestViews, service), LATEST_VIEWS),
  over(SchemaGrants, (service) => Layer.succeed(SchemaGrants, service), GRANTS),
  over(ReportLogin, (service) => Layer.succeed(ReportLogin, service), REPORT_LOGIN),
)
