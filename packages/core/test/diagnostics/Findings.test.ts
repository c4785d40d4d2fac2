/** Each problem that a cabinet can have: its severity, and what to do. */
import type { DiagnosticsReport } from "@data-cabinet/core/diagnostics/Diagnostics"
import type { QueueGauge } from "@data-cabinet/core/delivery/DeliveryQueue"
import { findingsOf, type Seen } from "@data-cabinet/core/diagnostics/Findings"
import { FENCE_SECONDS } from "@data-cabinet/core/feed/FenceHolder"
import { expect, it } from "vitest"

const WELL = {
  connection: { transport: "tls", verified: "name", isLoopback: false, server: "db:5432" },
  roles: {
    reader: { there: true, role: "cabinet_x_reader" },
    author: { there: true, role: "cabinet_x_author" },
  },
  reading: "on",
  standby: null,
  diagnostics: {
    serverVersion: "18.6",
    isEmbedded: false,
    database: "x",
    user: "owner",
    databaseBytes: 20_000_000,
    cabinetBytes: 10_000_000,
    sizes: { events: 1, rows: 1, originals: 1, deliveries: 1, attempts: 1, staged: 1, seen: 1, other: 1 },
    clockSkewMillis: 3,
    isStandby: false,
    synchronousCommit: "on",
    switchedOff: null,
    cannotWrite: null,
    isOpenToAll: false,
    authorStays: false,
    locksForAll: true,
    connections: 10,
    maxConnections: 100,
    fenceHolders: [],
    setBackAt: null,
    followers: [],
    cold: null,
    deferredRows: 0,
    outOfLineValues: [],
    rowsSetAside: { count: 0, first: [] },
    lostTables: [],
    inexactColumns: [],
    failedImports: [],
    partitions: [{ table: "original_request", until: "2026-12-01", daysAhead: 7 }],
    failingPolls: [],
    refusedSignatures: [],
    limitedRequests: [],
    soleClient: null,
    signedAddresses: [],
    droppedHeaders: [],
    unreadable: [],
    baseUrl: null,
    outdatedSearchIndexes: [],
    tablesReadWhole: [],
    slowReads: [],
    reportRights: [],
    authority: {
      isSuperuser: false,
      outlivedSessions: [],
      unstoppableForAll: [],
      preparedTransactions: [],
      authorsExtensions: [],
      authorCreates: false,
    },
    longestTransactionSeconds: 1,
  },
  gauge: {
    due: 0,
    retrying: 0,
    paused: 0,
    oldestDueSeconds: 0,
    stuck: 0,
    behind: 0,
    behindAddresses: [],
    failingAddresses: 0,
  },
} satisfies Seen

const COLD = {
  location: "/srv/history",
  files: 3,
  events: 300_000,
  bytes: 21_500_000,
  workedAt: "2026-11-27T12:00:00.000Z",
  isIdle: false,
  failures: 0,
  error: null,
  unreachable: null,
  missing: [],
  damaged: [],
  lateSince: null,
  erasureSince: null,
} as const
const SINCE = "2026-01-02T00:00:00.000Z"

const holder = { pid: 77, application: "psql", seconds: 61, since: null }

const diagnostics = (change: Partial<DiagnosticsReport>): Seen => ({
  ...WELL,
  diagnostics: { ...WELL.diagnostics, ...change },
})
const authority = (change: Partial<DiagnosticsReport["authority"]>): Seen =>
  diagnostics({ authority: { ...WELL.diagnostics.authority, ...change } })
const gauge = (change: Partial<QueueGauge>): Seen => ({ ...WELL, gauge: { ...WELL.gauge, ...change } })

/** The diagnostics of a cabinet without problems. */
const CHECKS =
  "connection reading author database sizes connections clock writing feed rows partitions transactions neighbours locks unstoppable followers polls search reports deliveries".split(
    " ",
  )

it("findingsOf reports every finding as ok when nothing is wrong", () => {
  const standby = { used: true, lagMillis: 1_200, maxLagMillis: 10_000, reason: null }
  const found = findingsOf({ ...WELL, standby })
  expect(found.filter(({ level }) => level !== "ok")).toEqual([])
  expect(found.map(({ check }) => check)).toEqual(CHECKS.toSpliced(-1, 0, "standby"))
  for (const { message } of found) expect(message).toMatch(/^.+[.]$/)
})

it("findingsOf reports ok at the limit of the tolerated range", () => {
  const edge = diagnostics({
    connections: 80,
    clockSkewMillis: -2_000,
    partitions: [{ table: "original_request", until: "2026-11-25", daysAhead: 3 }],
    fenceHolders: [{ ...holder, seconds: FENCE_SECONDS }],
    longestTransactionSeconds: 3_600,
  })
  expect(findingsOf(edge).filter(({ level }) => level !== "ok")).toEqual([])
})

it("findingsOf names only sessions that hold the feed back for long", () => {
  const passing = { ...holder, pid: 78, seconds: FENCE_SECONDS }
  expect(findingsOf(diagnostics({ fenceHolders: [passing, holder] }))).toContainEqual(
    expect.objectContaining({ check: "feed", message: expect.stringMatching(/by process 77 \(psql, 61 s\)\. /) }),
  )
})

it("findingsOf names sources with unreadable characters, and the command that reads their events again", () => {
  const one = { sourceId: 3, name: "Forms", unclear: false, events: 2, eventId: 41, rereadable: true }
  const found = (rereadable: boolean) =>
    findingsOf(diagnostics({ unreadable: [{ ...one, rereadable }] })).find(({ check }) => check === "characters")
  expect(found(true)).toMatchObject({
    level: "warn",
    message: expect.stringMatching(
      /^Source 3 \(Forms\) .* 2 of its latest events, .* 41\. `cabinet event reread --source 3 /,
    ),
  })
  expect(found(false)?.message).toMatch(/cabinet event show 41/)
})

it("findingsOf names sources whose texts are in a guessed charset", () => {
  const one = { sourceId: 3, name: "Forms", unclear: true, events: 1, eventId: 41, rereadable: true }
  expect(findingsOf(diagnostics({ unreadable: [one] })).find(({ check }) => check === "characters")).toMatchObject({
    level: "warn",
    message: expect.stringMatching(/^Source 3 \(Forms\) .* only a guess .* 41\. `cabinet event reread --source 3 /),
  })
})

it("findingsOf reports sizes in megabytes", () => {
  const sized = diagnostics({
    databaseBytes: 20 * 1_048_576,
    cabinetBytes: 1.5 * 1_048_576,
    sizes: { ...WELL.diagnostics.sizes, events: 1_048_576 },
  })
  const messageOf = (check: string) => findingsOf(sized).find((one) => one.check === check)?.message
  expect(messageOf("database")).toMatch(/ 20\.0 MB, .* 1\.5 MB\.$/)
  expect(messageOf("sizes")).toMatch(/events 1\.0 MB, rows 0\.0 MB, /)
})

const FOLLOWER = {
  id: 1,
  kind: "activity",
  name: "activity",
  eventId: 7,
  movedAt: "2026-11-27T11:00:00Z",
  behind: 0,
  behindSeconds: 0,
  failures: 0,
  error: null,
  retryAt: null,
  paused: false,
  holder: null,
  key: null,
  sourceId: null,
  channel: null,
}

const CLIENT = { ...FOLLOWER, kind: "client", name: "erp", key: "ERP" }

const SET_ASIDE = {
  eventId: 12,
  sourceId: 3,
  reason: "",
  refused: false,
  partial: false,
  retryAt: "2026-11-20T10:00:00Z",
}

it("findingsOf reports that the work behind the feed keeps up if it is at most five minutes behind, a client 36 hours, or paused", () => {
  const followers = [
    { ...FOLLOWER, behind: 9, behindSeconds: 300 },
    { ...CLIENT, behind: 9, behindSeconds: 129_600 },
    { ...FOLLOWER, kind: "destination", name: "events", behind: 9, behindSeconds: 9_000, failures: 1, paused: true },
  ]
  const found = findingsOf(diagnostics({ followers })).filter(({ check }) => check === "followers")
  expect(found).toEqual([{ check: "followers", level: "ok", message: "The work behind the feed keeps up." }])
})

it("findingsOf reports how much is in files of old events", () => {
  const found = findingsOf(diagnostics({ cold: COLD })).filter(({ check }) => check === "cold history")
  const message = "Old events are in files as they should be: 300000 old events in 3 files, 21.5 MB."
  expect(found).toEqual([{ check: "cold history", level: "ok", message }])
})

it("findingsOf reports that every event has its row only if none waits", () => {
  const set = { count: 1, first: [{ ...SET_ASIDE, reason: "RangeError: too deep" }] }
  const rowsOf = (change: Partial<DiagnosticsReport>) =>
    findingsOf(diagnostics(change)).filter(({ check }) => check === "rows")
  expect(rowsOf({})).toHaveLength(1)
  expect(rowsOf({ deferredRows: 1 })).toEqual([
    { check: "rows", level: "warn", message: expect.stringMatching(/^1 row waits /) },
  ])
  expect(rowsOf({ deferredRows: 1, rowsSetAside: set })).toEqual([
    { check: "rows", level: "warn", message: expect.stringMatching(/^1 row waits /) },
    {
      check: "rows",
      level: "bad",
      message: expect.stringMatching(/^The row of 1 event .*: event 12 [^…]*\. The events/),
    },
  ])
})

it.each(["18.6", "18.7", "19.0", "15.20 (Debian 15.20-1)", "beta"])(
  "findingsOf has no finding about version %s, which misses no known fix",
  (serverVersion) => {
    expect(findingsOf(diagnostics({ serverVersion })).filter(({ check }) => check === "version")).toEqual([])
  },
)

it("findingsOf reports a fully scanned table only if its columns are unknown", () => {
  const slow = {
    name: "sources.orders",
    columns: ["city"],
    count: 1,
    meanMillis: 1_000,
    worstMillis: 1_000,
    since: "2026-11-20T00:00:00Z",
    lastAt: "2026-11-26T00:00:00Z",
  }
  const tablesReadWhole = [
    { name: "sources.orders", times: 9 },
    { name: "sources.calls", times: 7 },
  ]
  const wholeOf = (slowReads: DiagnosticsReport["slowReads"]) =>
    findingsOf(diagnostics({ tablesReadWhole, slowReads })).find(({ check }) => check === "indexes")?.message
  expect(wholeOf([])).toMatch(/sources\.orders \(9 times\), sources\.calls \(7 times\)\./)
  expect(wholeOf([slow])).toMatch(/whole: sources\.calls \(7 times\)\. .* index sources\.calls COLUMN/)
  expect(wholeOf([slow, { ...slow, name: "sources.calls" }])).toBeUndefined()
})

it("findingsOf omits the login for reports while it is inactive", () => {
  const checks = findingsOf(diagnostics({ reportRights: null })).map(({ check }) => check)
  expect(checks).toEqual(CHECKS.filter((check) => check !== "reports"))
})

it("findingsOf uses the singular and the plural", () => {
  const messageOf = (seen: Seen, check: string) => findingsOf(seen).find((one) => one.check === check)?.message
  expect(messageOf(gauge({ stuck: 1, due: 1, retrying: 2, paused: 3 }), "deliveries")).toMatch(
    /^1 delivery has .* sends it \(1 due, 2 to be retried, 3 paused\)/,
  )
  expect(messageOf(gauge({ failingAddresses: 1 }), "deliveries")).toMatch(/^1 address fails /)
})

const noRole = { there: false, role: "r", reason: "There is no reader." } as const

it.each<[string, Seen, "warn" | "bad", RegExp]>([
  ["reading", { ...WELL, reading: "off" }, "warn", /CABINET_READING/],
  ["reading", { ...WELL, roles: { ...WELL.roles, reader: noRole } }, "bad", /There is no reader/],
  ["author", { ...WELL, roles: { ...WELL.roles, author: noRole } }, "warn", /There is no reader/],
  ["connections", diagnostics({ connections: 81 }), "warn", /^81 of 100 .* Raise max_connections, or run fewer/],
  ["clock", diagnostics({ clockSkewMillis: -2500 }), "warn", /differs .* by -2\.5 s\. .*synchronise the clocks/],
  ["feed", diagnostics({ fenceHolders: [holder] }), "bad", /process 77 \(psql, 61 s\)\. .*pg_terminate_backend\(77\)/],
  [
    "writing",
    diagnostics({ cannotWrite: "its disk is full" }),
    "bad",
    /^The database is not writable, .*: its disk is full\. /,
  ],
  [
    "history",
    diagnostics({ setBackAt: "2026-11-20T10:00:00Z" }),
    "bad",
    /^At 2026-11-20T10:00:00Z .* look for the copy/,
  ],
  [
    "commits",
    diagnostics({ switchedOff: "fsync, full_page_writes" }),
    "warn",
    /^Switched off in PostgreSQL: fsync, full_page_writes\. .* lose events/,
  ],
  [
    "commits",
    diagnostics({ synchronousCommit: "local" }),
    "warn",
    /^synchronous_commit = local: .* before any standby/,
  ],
  [
    "commits",
    diagnostics({ synchronousCommit: "remote_write" }),
    "warn",
    /^synchronous_commit = remote_write: .* on disk/,
  ],
  ["neighbours", diagnostics({ isOpenToAll: true }), "warn", /REVOKE ALL ON DATABASE "x" FROM PUBLIC;$/],
  [
    "libraries",
    { ...WELL, shipped: { major: 18, others: [{ bin: "/usr/lib/postgresql/18/bin", major: 18 }] } },
    "warn",
    /libxml2 2\.9\.4.*same data .*CABINET_POSTGRES_BIN=\/usr\/lib\/postgresql\/18\/bin/,
  ],
  ["superuser", authority({ isSuperuser: true }), "warn", /user owner is a superuser.*ALTER ROLE "owner" NOSUPERUSER/],
  [
    "stuck reads",
    authority({
      outlivedSessions: [{ pid: 7, login: "cabinet_x_reader", application: "data-cabinet reader", seconds: 181.4 }],
    }),
    "warn",
    /process 7 \(cabinet_x_reader, data-cabinet reader, 181 s\).*pg_ctl restart -m immediate/,
  ],
  [
    "prepared",
    authority({
      preparedTransactions: [{ name: "it's", login: "cabinet_x_reports", since: "2026-11-20T10:00:00Z" }],
    }),
    "warn",
    /it's \(cabinet_x_reports, since 2026-11-20T10:00:00Z\).*ROLLBACK PREPARED 'it''s';/,
  ],
  [
    "extensions",
    authority({
      authorsExtensions: [
        { name: "cube", schema: "public" },
        { name: "pg_trgm", schema: "mine" },
      ],
    }),
    "warn",
    /: cube, pg_trgm\..*DROP EXTENSION "cube", "pg_trgm" CASCADE; CREATE EXTENSION "cube" SCHEMA "public"; CREATE EXTENSION "pg_trgm" SCHEMA "mine";/,
  ],
  ["author's schemas", authority({ authorCreates: true }), "warn", /cabinet schema add NAME/],
  ["password", diagnostics({ authorStays: true }), "warn", /password never expires, and a script may have set it/],
  [
    "followers",
    diagnostics({ followers: [{ ...FOLLOWER, behind: 1, behindSeconds: 301 }] }),
    "warn",
    /: activity is 1 event behind, the first for 301 s\. Nothing is skipped\. If no server/,
  ],
  [
    "followers",
    diagnostics({ followers: [{ ...FOLLOWER, kind: "delivery", name: "7", behind: 1, behindSeconds: 301 }] }),
    "warn",
    /: address 7 is 1 event behind/,
  ],
  [
    "followers",
    diagnostics({
      followers: [{ ...FOLLOWER, behind: 10_000, failures: 3, error: "disk full.", retryAt: "2026-11-27T12:00:00Z" }],
    }),
    "warn",
    /activity failed 3 times in a row and is at least 10000 events behind.* at 2026-11-27T12:00:00Z: disk full\. Nothing/,
  ],
  [
    "followers",
    diagnostics({ followers: [{ ...CLIENT, behind: 3, behindSeconds: 129_601 }] }),
    "warn",
    /: the client erp of the key ERP is 3 events behind, the first for 129601 s\. Nothing is skipped\. Start the program/,
  ],
  [
    "cold history",
    diagnostics({ cold: { ...COLD, location: null } }),
    "bad",
    /^300000 events are in files, and this process has no place/,
  ],
  [
    "cold history",
    diagnostics({ cold: { ...COLD, unreachable: "it is away." } }),
    "bad",
    /in \/srv\/history cannot be reached: it is away\.$/,
  ],
  [
    "cold history",
    diagnostics({ cold: { ...COLD, missing: ["a.parquet"] } }),
    "bad",
    /^1 file of old events is missing .*: a\.parquet\. Put back/,
  ],
  [
    "cold history",
    diagnostics({ cold: { ...COLD, damaged: ["The file a is not whole."] } }),
    "bad",
    /^Files of old events are damaged: The file a is not whole\. Put back/,
  ],
  [
    "cold history",
    diagnostics({ cold: { ...COLD, failures: 2, error: "disk full.", lateSince: SINCE } }),
    "warn",
    /, 2 times in a row: disk full\. Meanwhile events of 2026-01-02/,
  ],
  ["cold history", diagnostics({ cold: { ...COLD, isIdle: true } }), "warn", /^No process moves old events/],
  [
    "cold history",
    diagnostics({ cold: { ...COLD, lateSince: SINCE } }),
    "warn",
    /^Events of 2026-01-02T00:00:00\.000Z should be in files by now\. A follower/,
  ],
  [
    "cold history",
    diagnostics({ cold: { ...COLD, erasureSince: SINCE } }),
    "warn",
    /^The file of an event that was erased at 2026-01-02T00:00:00\.000Z still has it\. A server/,
  ],
  ["rows", diagnostics({ deferredRows: 4 }), "warn", /^4 rows wait .* once it is available/],
  [
    "rows",
    diagnostics({ rowsSetAside: { count: 7, first: [{ ...SET_ASIDE, reason: "RangeError: too deep" }] } }),
    "bad",
    /^The rows of 7 events are set aside: event 12 of source 3 \(RangeError: too deep\), ….* Report internal errors\. .*12 next at 2026/,
  ],
  [
    "rows",
    diagnostics({ rowsSetAside: { count: 1, first: [{ ...SET_ASIDE, refused: true, partial: true, reason: "no" }] } }),
    "bad",
    /^The row of 1 event is .* \(no; written without the fields that have no column\)\. .* remove the cause that it names\. The rows/,
  ],
  [
    "tables",
    diagnostics({ lostTables: [{ sourceId: 3, name: "Shop", table: "sources.shop" }] }),
    "warn",
    /by hand: sources\.shop of source 3 \(Shop\)\. .* set aside until .*: cabinet source delete 3$/,
  ],
  [
    "columns",
    diagnostics({
      inexactColumns: [
        { sourceId: 3, table: "sources.shop", column: "sum", type: "numeric(10,2)", expected: "numeric" },
      ],
    }),
    "warn",
    /: column "sum" of sources\.shop \(numeric\(10,2\) instead of numeric\)\. .* as sent\. .*: cabinet table rebuild 3$/,
  ],
  [
    "imports",
    diagnostics({
      failedImports: [{ id: 5, sourceId: 3, name: "a.csv", staged: 9, accepted: 4, failure: "row 5 does not parse" }],
    }),
    "bad",
    /import 5 of a\.csv into source 3, after 4 of 9 rows \(row 5 does not parse\)/,
  ],
  [
    "partitions",
    diagnostics({ partitions: [{ table: "original_request", until: "2026-11-22", daysAhead: 1 }] }),
    "bad",
    /original_request has partitions until 2026-11-22\. Run a server or worker/,
  ],
  [
    "partitions",
    diagnostics({ partitions: [{ table: "original_request", until: null, daysAhead: -1 }] }),
    "bad",
    /original_request has no partitions\. Run a server/,
  ],
  [
    "polls",
    diagnostics({ failingPolls: [{ id: 3, sourceId: 1, failures: 5 }] }),
    "warn",
    /poll 3 of source 1 \(5 in a row\)\. `cabinet poll log 3` shows why/,
  ],
  [
    "rates",
    diagnostics({
      limitedRequests: [
        { sourceId: 3, name: "Code", count: 7, since: "2026-11-21T09:30:00Z", lastAt: "2026-11-21T09:31:00Z" },
      ],
    }),
    "warn",
    /7 requests to source 3 \(Code\), from 2026-11-21T09:30:00Z to .*CABINET_INTAKE_RATE/,
  ],
  [
    "clients",
    diagnostics({ soleClient: { address: "10.42.0.7", requests: 812, programs: 5 } }),
    "warn",
    /last 812 requests to intake all came from 10\.42\.0\.7, although 5 .*CABINET_TRUSTED_PROXIES/,
  ],
  [
    "signatures",
    diagnostics({
      refusedSignatures: [
        {
          sourceId: 3,
          name: "Code",
          recipe: "github",
          reason: "bad_signature",
          count: 1,
          since: "2026-11-21T09:30:00Z",
          lastAt: "2026-11-21T09:31:00Z",
        },
      ],
    }),
    "warn",
    /1 request to source 3 \(Code, github\) whose signature does not match, from .*`cabinet source set 3 --verify-secret-file FILE`\.$/,
  ],
  [
    "base URL",
    diagnostics({ signedAddresses: [{ sourceId: 3, name: "Calls", recipe: "twilio" }] }),
    "warn",
    /source 3 \(Calls, twilio\)\. Here no server has been given the base URL, .* Set BASE_URL/,
  ],
  [
    "base URL",
    diagnostics({
      signedAddresses: [{ sourceId: 3, name: "Shop", recipe: "square" }],
      baseUrl: "http://127.0.0.1:8080",
    }),
    "warn",
    /the base URL is http:\/\/127\.0\.0\.1:8080, where only this machine is/,
  ],
  [
    "search",
    diagnostics({ outdatedSearchIndexes: ["sources.orders"] }),
    "warn",
    /index of sources\.orders, .*cabinet table search-index sources\.orders$/,
  ],
  [
    "indexes",
    diagnostics({ tablesReadWhole: [{ name: "sources.orders", times: 1200 }] }),
    "warn",
    /sources\.orders \(1200 times\).*cabinet table index sources\.orders COLUMN/,
  ],
  [
    "slow reads",
    diagnostics({
      slowReads: [
        {
          name: "sources.orders",
          columns: ["city", "it's at"],
          count: 12,
          meanMillis: 1234,
          worstMillis: 3210,
          since: "2026-11-20T00:00:00Z",
          lastAt: "2026-11-26T00:00:00Z",
        },
      ],
    }),
    "warn",
    /12 reads of sources\.orders by city, it's at, 1\.2 s on average, 3\.2 s at most, .*: cabinet table index sources\.orders city 'it'\\''s at'$/,
  ],
  [
    "reports",
    diagnostics({
      reportRights: [{ right: "create temporary tables", remedy: "REVOKE TEMPORARY ON DATABASE a FROM PUBLIC" }],
    }),
    "warn",
    /can create temporary tables: .*cabinet database url/,
  ],
  [
    "transactions",
    diagnostics({ longestTransactionSeconds: 7200 }),
    "warn",
    /120 minutes.*Find its session with: SELECT/,
  ],
  [
    "standby",
    { ...WELL, standby: { used: false, lagMillis: null, maxLagMillis: 10_000, reason: "It is away." } },
    "warn",
    /It is away\. .*CABINET_READ_LAG \(currently 10 s\)/,
  ],
  [
    "deliveries",
    gauge({ due: 9, stuck: 5 }),
    "bad",
    /^5 deliveries .*but no process sends them.*Start `cabinet serve` or `cabinet worker`/,
  ],
  [
    "deliveries",
    gauge({ due: 9, behind: 5, behindAddresses: [7, 3], failingAddresses: 1 }),
    "warn",
    /^Addresses 7, 3 cannot keep up: 5 deliveries have .*`cabinet address log 7` shows.* or start more workers/,
  ],
  [
    "version",
    diagnostics({ serverVersion: "15.19" }),
    "warn",
    /^PostgreSQL 15\.19 lacks .* 1 minor release;.* Update that server\.$/,
  ],
  [
    "connection",
    { ...WELL, connection: { ...WELL.connection, verified: "no" } },
    "warn",
    /encrypted, but the server is not verified.*sslmode=verify-full/,
  ],
  [
    "connection",
    { ...WELL, connection: { ...WELL.connection, verified: "authority" } },
    "warn",
    /its certificate's authority is verified, but not the host name/,
  ],
  [
    "connection",
    { ...WELL, connection: { ...WELL.connection, transport: "clear text", verified: "no" } },
    "warn",
    /db:5432 are in clear text.*sslmode=verify-full/,
  ],
  ["deliveries", gauge({ failingAddresses: 2 }), "warn", /^2 addresses fail .*cabinet address log ID/],
])("findingsOf reports for %s the problem and its remedy (%#)", (check, seen, level, words) => {
  const wrong = findingsOf(seen).filter((finding) => finding.level !== "ok")
  expect(wrong).toEqual([{ check, level, message: expect.stringMatching(words) }])
})

it("findingsOf reports that sessions raise synchronous_commit when it is off", () => {
  const found = findingsOf(diagnostics({ synchronousCommit: "off" })).filter(({ check }) => check === "commits")
  expect(found).toEqual([
    { check: "commits", level: "ok", message: expect.stringMatching(/^synchronous_commit = off is .* raise it to on/) },
  ])
})

it("findingsOf accepts unencrypted connections on this machine", () => {
  for (const connection of [
    { transport: "clear text", verified: "no", isLoopback: true, server: "localhost:5432" },
    { transport: "socket", verified: "no", isLoopback: false, server: "/run/postgresql" },
  ] as const) {
    expect(findingsOf({ ...WELL, connection })[0]).toMatchObject({ check: "connection", level: "ok" })
  }
})

it("findingsOf reports an outdated embedded PostgreSQL without a warning", () => {
  const seen = diagnostics({ serverVersion: "18.4", isEmbedded: true })
  expect(findingsOf(seen).filter(({ check }) => check === "version")).toEqual([
    {
      check: "version",
      level: "ok",
      message: expect.stringMatching(
        /^The embedded PostgreSQL 18\.4 lacks .* 2 minor releases; 18\.6 was .* CABINET_POSTGRES_BIN .* \/usr\/lib\/postgresql\/18\/bin/,
      ),
    },
  ])
})

it("findingsOf omits the base URL if it is set, or if no sender signs it", () => {
  const signedAddresses = [{ sourceId: 3, name: "Calls", recipe: "twilio" }]
  for (const change of [{ signedAddresses, baseUrl: "https://data.example" }, { baseUrl: "http://localhost:8080" }]) {
    expect(findingsOf(diagnostics(change)).filter(({ check }) => check === "base URL")).toEqual([])
  }
})

it("findingsOf omits unexamined parts", () => {
  const checks = findingsOf({ diagnostics: WELL.diagnostics, gauge: WELL.gauge }).map(({ check }) => check)
  expect(checks).toEqual(CHECKS.slice(3))
})

it("findingsOf suggests another version only for new data", () => {
  const others = [{ bin: "/usr/lib/postgresql/17/bin", major: 17 }]
  const found = findingsOf({ ...WELL, shipped: { major: 18, others } }).find(({ check }) => check === "libraries")
  expect(found).toMatchObject({
    level: "ok",
    message: expect.stringMatching(
      /new data directory, CABINET_POSTGRES_BIN=.*17.*; for these data, install PostgreSQL 18/,
    ),
  })
})

it("findingsOf warns about a table that holds half of the out-of-line values that PostgreSQL allows", () => {
  const outOfLineValues = [{ table: "cabinet.event", values: 2 ** 31 }]
  expect(findingsOf(diagnostics({ outOfLineValues }))).toContainEqual(
    expect.objectContaining({
      check: "large values",
      level: "warn",
      message: expect.stringContaining("cabinet.event (up to 50 %)"),
    }),
  )
})
