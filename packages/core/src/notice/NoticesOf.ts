/**
 * The one place that decides from the facts which notices to send. Its only memory is of causes that can end. Sending a
 * notice records its cause, so none is sent twice.
 *
 * Decision: docs/decisions/0073-notices.md
 */
import { FENCE_SECONDS } from "../feed/FenceHolder.ts"
import { maskUrl } from "../network/MaskedUrl.ts"
import { counted } from "../text/Counted.ts"
import { type Notice, notice, type NoticeKey } from "./Notice.ts"
import type * as Fact from "./NoticeFacts.ts"
import {
  HOUR_SECONDS,
  STILL_MANY_WAITING,
  endSentence,
  failing,
  recovered,
  paused,
  isLate,
  waiting,
  certificate,
  clientCertificate,
} from "./AddressNotices.ts"
import { changedFields } from "./ShapeNotices.ts"
import { isQuiet } from "../activity/Activity.ts"

/** The notices to send, and the causes that have ended. */
export interface Notices {
  readonly notices: ReadonlyArray<Notice>
  /** The open causes that have ended. */
  readonly over: ReadonlyArray<NoticeKey>
}

/** A notice is given when less than the first share is free; the cause lasts until more than the second is. */
const LOW_DISK_SHARE = 0.1
const ROOMY_DISK_SHARE = 0.12

/** The most columns of one event that are named. */
const MAX_NAMED_COLUMNS = 50
const sourceFields = ({ sourceId, sourceName }: { readonly sourceId: number; readonly sourceName: string }) => ({
  source_id: sourceId,
  source_name: sourceName,
})

const held = ({ pid, application, since, seconds }: Fact.NoticeFacts["holders"][number]): Notice | null =>
  seconds <= FENCE_SECONDS
    ? null
    : notice({
        kind: "feed.held",
        about: ["feed"],
        instance: `${pid} ${since ?? ""}`,
        since,
        message: `The feed is held back by process ${pid} of the database${application === "" ? "" : ` (${application})`}${since === null ? "" : ` since ${since}`}. Events accepted meanwhile are shown once its transaction ends; to end it: SELECT pg_terminate_backend(${pid});`,
        fields: { by: application === "" ? null : application, pid, seconds: Math.floor(seconds) },
      })

const poll = (one: Fact.FailingPoll): Notice => {
  const { id, url, since, failures, status, failure } = one
  return notice({
    kind: "poll.failing",
    about: ["poll", id],
    instance: since,
    since,
    message: endSentence(
      `Poll ${id} of source ${one.sourceId} (${one.sourceName}) has failed since ${since}${failure === null ? "" : `: ${failure}`}`,
    ),
    fields: { poll_id: id, url: maskUrl(url), ...sourceFields(one), count: failures, status, failure },
  })
}

const failedImport = (one: Fact.FailedImport): Notice => {
  const { id, name, at, staged, accepted, failure } = one
  return notice({
    kind: "import.failed",
    about: ["import", id],
    instance: "",
    since: at,
    message: endSentence(
      `Import ${id} of ${name} into source ${one.sourceId} (${one.sourceName}) failed after ${accepted} of ${staged} rows${failure === "" ? "" : `: ${failure}`}`,
    ),
    fields: { import_id: id, name, ...sourceFields(one), count: accepted, of: staged, failure },
  })
}

/** The columns of one kind that one event created. */
const columns = (all: ReadonlyArray<Fact.CreatedColumn>): ReadonlyArray<Notice> =>
  [...Map.groupBy(all, ({ sourceId, eventId, isSibling }) => `${sourceId} ${eventId} ${isSibling}`).values()].map(
    (brought) => {
      const [first] = brought
      const { eventId, column, field, type, isSibling, at } = first!
      const named = brought.slice(0, MAX_NAMED_COLUMNS)
      const more = brought.length > named.length ? ", …" : ""
      const what = isSibling
        ? `${counted(brought.length, "column")} for values of another type`
        : counted(brought.length, "new column")
      return notice({
        kind: isSibling ? "type.created" : "column.created",
        about: ["source", first!.sourceId],
        instance: String(eventId),
        since: at,
        message: `Event ${eventId} brought ${what} to source ${first!.sourceId} (${first!.sourceName}): ${named.map((one) => `${one.column} (${one.type})`).join(", ")}${more}.`,
        fields: {
          ...sourceFields(first!),
          event_id: eventId,
          column,
          field,
          type,
          count: brought.length,
          columns: named.map((one) => one.column),
        },
      })
    },
  )

const silent = (one: Fact.SilentSource): Notice | null => {
  const { silence } = one
  if (!isQuiet(silence)) return null
  const { since, seconds, usualSeconds } = silence
  const hours = (of: number) => counted(Math.round(of / HOUR_SECONDS), "hour")
  return notice({
    kind: "source.quiet",
    about: ["source", one.sourceId],
    instance: since,
    since,
    message: `Source ${one.sourceId} (${one.sourceName}) has received nothing since ${since}; it is seldom silent for more than ${hours(usualSeconds ?? 0)}.`,
    fields: { ...sourceFields(one), seconds: Math.floor(seconds), usual_seconds: Math.floor(usualSeconds ?? 0) },
  })
}

const freeShare = ({ freeBytes, totalBytes }: Fact.DiskFact): number => (totalBytes > 0 ? freeBytes / totalBytes : 1)

const disk = (one: Fact.DiskFact): Notice | null => {
  if (freeShare(one) >= LOW_DISK_SHARE) return null
  const { path, freeBytes, totalBytes } = one
  const percent = Math.floor(freeShare(one) * 100)
  return notice({
    kind: "disk.filling",
    about: ["disk"],
    instance: "",
    since: null,
    ends: true,
    message: `The disk of the database (${path}) has ${percent} % of its room left. Once it is full, submissions are refused.`,
    fields: { path, free_bytes: freeBytes, total_bytes: totalBytes, free_percent: percent },
  })
}

/** Whether an open cause still holds. */
const holdsStill = ({ kind, subject }: NoticeKey, facts: Fact.NoticeFacts): boolean => {
  if (kind === "disk.filling") return facts.disk === null || freeShare(facts.disk) < ROOMY_DISK_SHARE
  const found = facts.waiting.find(({ id }) => id === subject)
  return found !== undefined && (found.count >= STILL_MANY_WAITING || isLate(found))
}

export const noticesOf = (facts: Fact.NoticeFacts): Notices => {
  const ofOthers = <A extends Fact.AddressFact>(all: ReadonlyArray<A>) => all.filter(({ carries }) => !carries)
  const found = [
    ...ofOthers(facts.failing).map(failing),
    ...ofOthers(facts.recovered).map(recovered),
    ...ofOthers(facts.paused).map(paused),
    ...ofOthers(facts.waiting).map(waiting),
    ...ofOthers(facts.certificates).map(certificate),
    ...ofOthers(facts.clientCertificates).map(clientCertificate),
    ...facts.holders.map(held),
    ...facts.polls.map(poll),
    ...facts.imports.map(failedImport),
    ...columns(facts.columns),
    ...facts.silent.map(silent),
    ...facts.fields.map(changedFields),
    facts.disk === null ? null : disk(facts.disk),
  ]
  return {
    notices: found.filter((one) => one !== null),
    over: facts.open.filter((cause) => !holdsStill(cause, facts)),
  }
}
