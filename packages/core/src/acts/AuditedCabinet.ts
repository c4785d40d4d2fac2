/**
 * The use cases that change a cabinet, with each act written to the audit log. All of them are wrapped here, so that
 * the management API, the command and the embedding program write the same. A method that is missing here does not
 * compile. Null marks a method that changes and reveals nothing, or that only the cabinet itself calls.
 *
 * Decision: docs/decisions/0043-roles-and-the-audit-log.md
 */
import { Effect, Layer } from "effect"
import { Addresses } from "../delivery/Addresses.ts"
import { Destinations } from "../destination/Destinations.ts"
import { Deliveries } from "../delivery/Deliveries.ts"
import { Erasure } from "../event/Erasure.ts"
import { Rereading } from "../intake/Rereading.ts"
import { Trash } from "../event/Trash.ts"
import { ColdHistory } from "../cold/ColdHistory.ts"
import { Followers } from "../follower/Followers.ts"
import { Import } from "../file/Import.ts"
import { Imports } from "../file/Imports.ts"
import { AccessTokens } from "../key/AccessTokens.ts"
import { ApiKeys } from "../key/ApiKeys.ts"
import { Notices } from "../notice/Notices.ts"
import { People } from "../person/People.ts"
import { Sessions } from "../person/Sessions.ts"
import { Polls } from "../poll/Polls.ts"
import { ColumnIndexes } from "../row/ColumnIndexes.ts"
import { LatestViews } from "../row/LatestViews.ts"
import { ReportLogin } from "../row/ReportLogin.ts"
import { SchemaGrants } from "../row/SchemaGrants.ts"
import { SearchIndex } from "../row/SearchIndex.ts"
import { SourceColumns } from "../row/SourceColumns.ts"
import { TableRebuild } from "../row/TableRebuild.ts"
import { Sources } from "../source/Sources.ts"
import { LateVerification } from "../event/LateVerification.ts"
import { SavedViews } from "../view/SavedViews.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { type Act, managed } from "../audit/Managed.ts"
import { type Acts, act } from "./Acts.ts"
import { Inbox } from "../inbox/Inbox.ts"
import { SOURCES, TRASH, INBOX, ERASURE, LATE_VERIFICATION, REREADING, IMPORTS, UNDONE_IMPORTS } from "./SourceActs.ts"
import { COLUMNS, REBUILDS, VIEWS, INDEXES, COLUMN_INDEXES, LATEST_VIEWS, GRANTS, REPORT_LOGIN } from "./TableActs.ts"
import { ADDRESSES, DELIVERIES, DESTINATIONS, POLLS } from "./SendingActs.ts"
import { KEYS, TOKENS, PEOPLE, SESSIONS } from "./AccessActs.ts"

const audited = <S extends object>(log: AuditLog["Service"], service: S, acts: Acts<S>): S => {
  const wrapped = { ...service } as Record<string, unknown>
  for (const [name, actOf] of Object.entries<((...args: Array<unknown>) => Act) | null>(acts as never)) {
    if (actOf === null) continue
    const method = (service as Readonly<Record<string, (...args: Array<unknown>) => Effect.Effect<unknown, unknown>>>)[
      name
    ]!
    wrapped[name] = (...args: Array<unknown>) =>
      managed(
        log,
        actOf(...args),
        Effect.suspend(() => method(...args)),
      )
  }
  return wrapped as S
}

const FOLLOWERS: Acts<Followers["Service"]> = {
  list: null,
  reset: (id, to) => act("follower.reset", `follower ${id}`, { to }),
  remove: (id) => act("follower.remove", `follower ${id}`),
}

const COLD: Acts<ColdHistory["Service"]> = {
  verify: null,
  thaw: (range) => act("cold.thaw", null, { range }),
}

const NOTICES: Acts<Notices["Service"]> = {
  show: null,
  switchOn: () => act("notices.on", null),
  switchOff: () => act("notices.off", null),
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
  over(Inbox, (service) => Layer.succeed(Inbox, service), INBOX),
  over(Erasure, (service) => Layer.succeed(Erasure, service), ERASURE),
  over(LateVerification, (service) => Layer.succeed(LateVerification, service), LATE_VERIFICATION),
  over(Rereading, (service) => Layer.succeed(Rereading, service), REREADING),
  over(Followers, (service) => Layer.succeed(Followers, service), FOLLOWERS),
  over(ColdHistory, (service) => Layer.succeed(ColdHistory, service), COLD),
  over(ApiKeys, (service) => Layer.succeed(ApiKeys, service), KEYS),
  over(AccessTokens, (service) => Layer.succeed(AccessTokens, service), TOKENS),
  over(People, (service) => Layer.succeed(People, service), PEOPLE),
  over(Sessions, (service) => Layer.succeed(Sessions, service), SESSIONS),
  over(Addresses, (service) => Layer.succeed(Addresses, service), ADDRESSES),
  over(Deliveries, (service) => Layer.succeed(Deliveries, service), DELIVERIES),
  over(Destinations, (service) => Layer.succeed(Destinations, service), DESTINATIONS),
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
