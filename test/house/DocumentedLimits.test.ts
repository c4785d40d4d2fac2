/** Sentences of documents that name a limit or a default have the number of the code. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { OVERVIEW_HOURS } from "@data-cabinet/core/activity/Activity"
import { MAX_RESULT_BYTES } from "@data-cabinet/core/agent/BoundedItems"
import {
  MAX_WAIT_SECONDS as MAX_AGENT_WAIT_SECONDS,
  USUAL_ITEMS,
  USUAL_WAIT_SECONDS,
} from "@data-cabinet/core/agent/AgentTool"
import { MAX_TIMEOUT_SECONDS } from "@data-cabinet/core/delivery/SendingSettings"
import { MAX_ADDRESSES } from "@data-cabinet/core/delivery/AddressStore"
import { RESPONSE_KEPT_BYTES } from "@data-cabinet/core/delivery/Attempt"
import { MAX_FILTERS } from "@data-cabinet/core/delivery/FieldFilter"
import { MAX_TRASH_EVENTS } from "@data-cabinet/core/event/Trash"
import { MAX_SNAPSHOT_MINUTES } from "@data-cabinet/core/export/RowSnapshots"
import { FENCE_SECONDS } from "@data-cabinet/core/feed/FenceHolder"
import { MAX_COUNTED } from "@data-cabinet/core/feed/FeedListener"
import { MAX_BATCH } from "@data-cabinet/core/intake/JsonLines"
import { LONG_BODY_BYTES } from "@data-cabinet/core/intake/LongBody"
import { MAX_JSON_DEPTH } from "@data-cabinet/core/json/ParseJson"
import { MAX_WAITING_BYTES } from "@data-cabinet/core/limit/MemoryBudget"
import { DEFAULT_LIMIT, MAX_LIMIT, PAGE_BYTES } from "@data-cabinet/core/pagination/Page"
import { SignInRates } from "@data-cabinet/core/person/AttemptCounts"
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from "@data-cabinet/core/person/Password"
import { MAX_POLL_BYTES } from "@data-cabinet/core/poll/PollFetch"
import { MAX_SECONDS, MIN_SECONDS } from "@data-cabinet/core/poll/PollSchedule"
import { MAX_FIELD_COLUMNS } from "@data-cabinet/core/row/RowPlan"
import { MAX_POSITION_VALUE_LENGTH, MAX_ROW_BYTES } from "@data-cabinet/core/row/RowReader"
import { SAMPLED_ROWS } from "@data-cabinet/core/selection/SampleWalk"
import { MAX_INFORMATIONAL } from "@data-cabinet/delivery/outgoing/LooseHead"
import { FeedStreamLimits, MAX_WAIT_SECONDS } from "@data-cabinet/http-node/feed/FeedForms"
import { ManageRates } from "@data-cabinet/http-node/manage/Identify"
import { EventStreamLimits } from "@data-cabinet/http-node/server/EventStream"
import { MAX_CONNECTIONS } from "@data-cabinet/store-pg/connection/ReaderSessions"
import { SETTINGS } from "data-cabinet/settings/Settings"
import { assert, it } from "vitest"

const root = join(import.meta.dirname, "..", "..")

/** A number as the documents write it. */
const n = (value: number): string => value.toLocaleString("en-US")
const kb = (bytes: number): string => n(bytes / 1_024)
const mb = (bytes: number): string => n(bytes / 1_048_576)

const stream = FeedStreamLimits.defaultValue()
const screens = EventStreamLimits.defaultValue()
const manage = ManageRates.defaultValue()
const signIn = SignInRates.defaultValue()
const { intakeRate, intakeMaxBytes, apiRate, retentionDays, logDays, failedLogDays, auditDays, drainTime } = SETTINGS

/** Sentences by the page that has them. Line breaks of a page do not count. */
const SENTENCES: Readonly<Record<string, ReadonlyArray<string>>> = {
  "README.md": [
    `A source takes ${intakeRate.fallback} submissions a minute`,
    ...(["port", "host", "dataDir", "timeZone"] as const).map((name) => SETTINGS[name].fallback!),
  ],
  "ARCHITECTURE.md": [
    `Only a batch of more than ${n(MAX_BATCH)} objects is rejected whole`,
    `columns are only added, at most ${n(MAX_FIELD_COLUMNS)}`,
  ],
  "docs/agents.md": [
    `(${USUAL_WAIT_SECONDS} by default, ${MAX_AGENT_WAIT_SECONDS} at most)`,
    `The items of a result are at most ${kb(MAX_RESULT_BYTES)} KiB together, and ${USUAL_ITEMS} unless`,
    `A key may have ${stream.ofOne} waiting requests open in each process`,
  ],
  "docs/api.md": [
    `${apiRate.fallback} requests per minute and key`,
    `\`limit\` (1 to ${MAX_LIMIT}, default ${DEFAULT_LIMIT}). A page ends early after about ${mb(PAGE_BYTES)} MB`,
  ],
  "docs/console.md": [
    `the events of ${OVERVIEW_HOURS} hours`,
    `most frequent of the selection's first ${n(SAMPLED_ROWS)} rows`,
    `(past ${n(MAX_COUNTED)}: *more than ${n(MAX_COUNTED)}*)`,
    `At most ${screens.ofOne} are open per session and ${screens.ofAll} per process`,
    `the provider ${signIn.redirects} times a minute, come back ${signIn.address} times`,
  ],
  "docs/delivery.md": [
    `A source has at most ${n(MAX_ADDRESSES)} addresses`,
    `at most ${MAX_FILTERS} conditions`,
    `how many seconds an attempt may take (default ${MAX_TIMEOUT_SECONDS})`,
    `${MAX_INFORMATIONAL} informational responses`,
    `${kb(RESPONSE_KEPT_BYTES)} KB are kept in the log`,
    `Delivered attempts are kept for ${logDays.fallback} days, failed ones for ${failedLogDays.fallback}`,
  ],
  "docs/embedding.md": [`\`maxReaderConnections\` (${MAX_CONNECTIONS})`],
  "docs/exports.md": [
    `ends after ${MAX_SNAPSHOT_MINUTES} minutes`,
    `the server's ${manage.token} requests a minute`,
    `a row is larger than ${mb(MAX_ROW_BYTES)} MB`,
  ],
  "docs/feed.md": [
    `up to so many seconds, ${MAX_WAIT_SECONDS} at most`,
    `after ${FENCE_SECONDS} seconds it is logged`,
    `Silence is broken by a comment every ${stream.silence / 1_000} seconds`,
    `A key may have ${stream.ofOne} waiting requests and streams at once, and a process ${n(stream.ofAll)}`,
  ],
  "docs/intake-http.md": [
    `a source takes ${intakeRate.fallback} requests a minute`,
    `a body over ${n(Number(intakeMaxBytes.fallback))} bytes`,
    `a batch of more than ${MAX_BATCH}`,
    `are bounded by their size in memory: ${mb(MAX_WAITING_BYTES)} MB`,
    `At most four bodies over ${kb(LONG_BODY_BYTES)} KB are read at once`,
  ],
  "docs/intake.md": [`${MAX_JSON_DEPTH} levels`, `${MAX_FIELD_COLUMNS} columns`],
  "docs/management-api.md": [
    `has ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters`,
    `may try ${signIn.address} passwords a minute, and ${signIn.account} per account`,
    `after ${signIn.links} wrong ones a minute`,
    `After ${manage.wrong} wrong tokens or sessions a minute`,
    `A token may make ${manage.token} requests a minute and a session ${n(manage.session)}`,
    `\`CABINET_AUDIT_DAYS\` (${auditDays.fallback})`,
  ],
  "docs/polling.md": [
    `The limits are ${mb(MAX_POLL_BYTES)} MB`,
    `one interval (${MIN_SECONDS} s to ${MAX_SECONDS / 86_400} days)`,
  ],
  "docs/processes.md": [`\`CABINET_DRAIN_TIME\` (${drainTime.fallback!.replace("s", " seconds")})`],
  "docs/retention.md": [
    `${retentionDays.fallback} days | \`CABINET_RETENTION_DAYS\``,
    `${logDays.fallback} days | \`CABINET_LOG_DAYS\``,
    `${auditDays.fallback} days | \`CABINET_AUDIT_DAYS\``,
    `${failedLogDays.fallback} days | \`CABINET_FAILED_LOG_DAYS\``,
    `At most ${n(MAX_TRASH_EVENTS)} numbers per call`,
  ],
  "docs/rows.md": [
    `\`limit\` is 1 to ${MAX_LIMIT}, default ${DEFAULT_LIMIT}`,
    `before its rows exceed ${mb(PAGE_BYTES)} MB`,
    `A sort value of more than ${n(MAX_POSITION_VALUE_LENGTH)} characters`,
  ],
  "docs/scale.md": [
    `every source | ${n(MAX_ADDRESSES)} |`,
    `streams of a key | ${stream.ofOne} |`,
    `streams of a process | ${n(stream.ofAll)} |`,
  ],
}

it.for(Object.entries(SENTENCES))("%s has the limits and the defaults of the code", ([page, sentences]) => {
  const text = readFileSync(join(root, page), "utf8").replaceAll(/\s+/g, " ")
  assert.deepStrictEqual(
    sentences.filter((sentence) => !text.includes(sentence)),
    [],
  )
})
