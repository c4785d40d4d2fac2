/** Interprets the diagnostics of a cabinet: each item examined, its state, and the remedy for a problem. */
import type { QueueGauge } from "../delivery/DeliveryQueue.ts"
import { FENCE_SECONDS } from "../feed/FenceHolder.ts"
import { authorityFindings } from "./AuthorityFindings.ts"
import { counted } from "../text/Counted.ts"
import { shellWord } from "../text/ShellWord.ts"
import { providerNamed } from "../verification/Providers.ts"
import type { RefusalReason } from "../verification/VerifySender.ts"
import { CABINET_PARTS, type CabinetPart, type DiagnosticsReport } from "./Diagnostics.ts"

/** `bad` needs attention now, `warn` soon. */
type Level = "ok" | "warn" | "bad"

export interface Finding {
  readonly check: string
  readonly level: Level
  readonly message: string
}

/** A role of the database, and why it cannot be used if so. */
type SeenRole = { readonly there: true; readonly role: string } | { readonly there: false; readonly reason: string }

interface SeenRoles {
  readonly reader: SeenRole
  readonly author: SeenRole
}

interface SeenConnection {
  readonly transport: "socket" | "tls" | "clear text"
  readonly verified: "name" | "authority" | "no"
  readonly isLoopback: boolean
  readonly server: string
}

interface SeenShipped {
  readonly major: number
  /** The installations of this machine that could run in its place, the newest first. */
  readonly others: ReadonlyArray<{ readonly bin: string; readonly major: number }>
}

interface SeenStandby {
  readonly used: boolean
  readonly lagMillis: number | null
  readonly maxLagMillis: number
  readonly reason: string | null
}

const SKEW_MILLIS = 2000
const LONG_TRANSACTION_SECONDS = 3600

const megabytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(1)} MB`

const PART_NAMES: Readonly<Record<CabinetPart, string>> = {
  events: "events",
  rows: "rows",
  originals: "original requests",
  deliveries: "deliveries",
  attempts: "attempts",
  staged: "staged imports",
  seen: "poll state",
  other: "the rest",
}

const finding = (check: string, level: Level, message: string): Finding => ({ check, level, message })

const ofRoles = (roles: SeenRoles, reading: "on" | "off"): ReadonlyArray<Finding> => [
  reading === "off"
    ? finding("reading", "warn", "Reading is switched off by CABINET_READING.")
    : roles.reader.there
      ? finding("reading", "ok", `Rows are read as ${roles.reader.role}.`)
      : finding("reading", "bad", roles.reader.reason),
  roles.author.there
    ? finding("author", "ok", `\`cabinet sql\` runs as ${roles.author.role}.`)
    : finding("author", "warn", roles.author.reason),
]

const ofRows = ({ deferredRows, rowsSetAside: { count, first } }: DiagnosticsReport): ReadonlyArray<Finding> => {
  const waiting =
    deferredRows === 0
      ? []
      : [
          finding(
            "rows",
            "warn",
            `${counted(deferredRows, "row waits", "rows wait")} for a table that is locked or cannot be altered; they are written automatically once it is available and a server or worker runs.`,
          ),
        ]
  if (count === 0) return waiting.length > 0 ? waiting : [finding("rows", "ok", "Every event has its row.")]
  const each = first.map(
    ({ eventId, sourceId, reason, partial }) =>
      `event ${eventId} of source ${sourceId} (${reason}${partial ? "; written without the fields that have no column" : ""})`,
  )
  const advice = [
    ...(first.some(({ refused }) => refused) ? ["The database refuses rows: remove the cause that it names."] : []),
    ...(first.every(({ refused }) => refused) ? [] : ["Report internal errors."]),
  ]
  const message = `${count === 1 ? "The row of 1 event is" : `The rows of ${count} events are`} set aside: ${each.join(", ")}${count > first.length ? ", …" : ""}. The events themselves are complete, in the feed and in deliveries. ${advice.join(" ")} The rows are retried with increasing intervals of up to an hour, and when a server or worker starts; event ${first[0]!.eventId} next at ${first[0]!.retryAt}.`
  return [...waiting, finding("rows", "bad", message)]
}

const ofImports = ({ failedImports: failed }: DiagnosticsReport): ReadonlyArray<Finding> => {
  if (failed.length === 0) return []
  const each = failed.map(
    ({ id, sourceId, name, staged, accepted, failure }) =>
      `import ${id} of ${name} into source ${sourceId}, after ${accepted} of ${staged} rows (${failure})`,
  )
  const message = `Imports failed while their rows were being accepted: ${each.join(", ")}. Rows already accepted remain events; the others exist only in the file or at the polled URL, which will be polled again.`
  return [finding("imports", "bad", message)]
}

const ofSetBack = ({ setBackAt }: DiagnosticsReport): ReadonlyArray<Finding> =>
  setBackAt === null
    ? []
    : [
        finding(
          "history",
          "bad",
          `At ${setBackAt} a feed client presented a position that this database never reached: the database was rolled back while its server kept running, for example by failing over to a standby and back, or by restoring a snapshot of a running machine. Events accepted in between are missing here; look for the copy that has them. The feed has started a new epoch, and clients with newer cursors continue from the last position that they share with it.`,
        ),
      ]

/** The latest minor release of each major version, as of November 2026. */
const LATEST: Readonly<Record<number, number>> = { 15: 20, 16: 16, 17: 12, 18: 6 }

const ofVersion = ({ serverVersion, isEmbedded }: DiagnosticsReport): ReadonlyArray<Finding> => {
  const [, major = "", minor = ""] = /^(\d+)\.(\d+)/.exec(serverVersion) ?? []
  const latest = LATEST[Number(major)]
  if (latest === undefined || Number(minor) >= latest) return []
  const lacks = `lacks the fixes of ${counted(latest - Number(minor), "minor release", "minor releases")}; ${major}.${latest} was current when this version of the program was built`
  if (!isEmbedded) return [finding("version", "warn", `PostgreSQL ${serverVersion} ${lacks}. Update that server.`)]
  // Its fixes come with the program's own releases: a fresh clone has nothing to act on.
  return [
    finding(
      "version",
      "ok",
      `The embedded PostgreSQL ${serverVersion} ${lacks}. A later version of the program brings them. To have them now, install PostgreSQL ${major} on this machine and set CABINET_POSTGRES_BIN to the directory of its programs, such as /usr/lib/postgresql/${major}/bin: they use the same data.`,
    ),
  ]
}

const ofCommits = ({ synchronousCommit: setting }: DiagnosticsReport): ReadonlyArray<Finding> => {
  const commits = (level: Level, message: string) => [
    finding("commits", level, `synchronous_commit = ${setting}${message}`),
  ]
  switch (setting) {
    case "off":
      return commits(
        "ok",
        " is set here; the sessions that accept events raise it to on, so that a crash loses no event that was acknowledged.",
      )
    case "local":
      return commits("warn", ": an event is acknowledged before any standby has it, and a failover can lose it.")
    case "remote_write":
      return commits(
        "warn",
        ": an event is acknowledged before a standby has it on disk; losing both servers at once can lose it.",
      )
    default:
      return []
  }
}

const ofDatabase = (diagnostics: DiagnosticsReport): ReadonlyArray<Finding> => {
  const { clockSkewMillis: skew, connections, maxConnections } = diagnostics
  const tight = connections > maxConnections * 0.8
  const short = diagnostics.partitions.filter(({ daysAhead }) => daysAhead < 3)
  const held = diagnostics.fenceHolders.filter(({ seconds }) => seconds > FENCE_SECONDS)
  return [
    finding(
      "database",
      "ok",
      `PostgreSQL ${diagnostics.serverVersion}, database ${diagnostics.database} as ${diagnostics.user}; ${megabytes(diagnostics.databaseBytes)}, of which the cabinet uses ${megabytes(diagnostics.cabinetBytes)}.`,
    ),
    ...ofVersion(diagnostics),
    ...ofCommits(diagnostics),
    finding(
      "sizes",
      "ok",
      `By part: ${CABINET_PARTS.map((part) => `${PART_NAMES[part]} ${megabytes(diagnostics.sizes[part])}`).join(", ")}.`,
    ),
    finding(
      "connections",
      tight ? "warn" : "ok",
      `${connections} of ${maxConnections} connections are in use.${tight ? " Raise max_connections, or run fewer processes." : ""}`,
    ),
    Math.abs(skew) > SKEW_MILLIS
      ? finding(
          "clock",
          "warn",
          `This machine's clock differs from the database's by ${(skew / 1000).toFixed(1)} s. Receivers reject signatures older than 5 minutes: synchronise the clocks.`,
        )
      : finding("clock", "ok", `The clocks of this machine and the database agree within ${Math.abs(skew)} ms.`),
    diagnostics.cannotWrite === null
      ? finding("writing", "ok", "The database is writable.")
      : finding(
          "writing",
          "bad",
          `The database is not writable, so submissions are refused and senders have to retry: ${diagnostics.cannotWrite}. Intake resumes automatically once this is resolved.`,
        ),
    held.length > 0
      ? finding(
          "feed",
          "bad",
          `The feed is held back by ${held.map(({ pid, application, seconds }) => `process ${pid} (${application}, ${Math.round(seconds)} s)`).join(", ")}. End it with: SELECT pg_terminate_backend(${held[0]!.pid});`,
        )
      : finding("feed", "ok", "Nothing holds the feed back."),
    ...ofSetBack(diagnostics),
    ...ofRows(diagnostics),
    short.length > 0
      ? finding(
          "partitions",
          "bad",
          `${short.map(({ table, until }) => (until === null ? `${table} has no partitions` : `${table} has partitions until ${until}`)).join(", ")}. Run a server or worker: it creates them in advance.`,
        )
      : finding("partitions", "ok", "Partitions are created in advance."),
    diagnostics.longestTransactionSeconds > LONG_TRANSACTION_SECONDS
      ? finding(
          "transactions",
          "warn",
          `A transaction has been open for ${Math.round(diagnostics.longestTransactionSeconds / 60)} minutes; until it ends, VACUUM cannot remove dead rows. Find its session with: SELECT pid, application_name, state, xact_start FROM pg_stat_activity ORDER BY xact_start;`,
        )
      : finding("transactions", "ok", "No transaction has been running for long."),
  ]
}

/** Rights that PostgreSQL grants to every role, and those an author could keep. */
const ofNeighbours = ({
  database,
  isOpenToAll,
  authorStays,
  locksForAll,
}: DiagnosticsReport): ReadonlyArray<Finding> => [
  isOpenToAll
    ? finding(
        "neighbours",
        "warn",
        `Every role of the server can connect to the database. Have its owner run the following, and grant CONNECT to the roles that need it: REVOKE ALL ON DATABASE "${database}" FROM PUBLIC;`,
      )
    : finding("neighbours", "ok", "Only roles with an explicit grant can connect to the database."),
  ...(authorStays
    ? [
        finding(
          "password",
          "warn",
          "The author role's password never expires, and a script may have set it. Starting this version as a user that may alter the role fixes this.",
        ),
      ]
    : []),
  finding(
    "locks",
    "ok",
    locksForAll
      ? "Every role connected to the database can take advisory locks without limit. Only a superuser can revoke this privilege (see docs/operations.md)."
      : "Only roles with an explicit grant can take advisory locks.",
  ),
]

const ofPolls = ({ failingPolls: failing }: DiagnosticsReport): Finding => {
  if (failing.length === 0) return finding("polls", "ok", "No poll is failing.")
  const each = failing.map(({ id, sourceId, failures }) => `poll ${id} of source ${sourceId} (${failures} in a row)`)
  const message = `Polls are failing: ${each.join(", ")}. \`cabinet poll log ${failing[0]!.id}\` shows why; \`cabinet poll pause ID\` stops the retries.`
  return finding("polls", "warn", message)
}

const REFUSED: Readonly<Record<RefusalReason, string>> = {
  no_signature: "without a signature",
  bad_signature: "whose signature does not match",
  old_timestamp: "whose signature is too old or from a clock that is ahead",
}

const ofSignatures = ({ refusedSignatures: refused }: DiagnosticsReport): ReadonlyArray<Finding> => {
  if (refused.length === 0) return []
  const each = refused.map(
    ({ sourceId, name, recipe, reason, count, since, lastAt }) =>
      `${counted(count, "request", "requests")} to source ${sourceId} (${name}, ${recipe}) ${REFUSED[reason]}, from ${since} to ${lastAt}`,
  )
  const message = `Senders could not be verified, and their requests were refused: ${each.join("; ")}. If they are genuine, the source's secret is not the sender's: set it with \`cabinet source set ${refused[0]!.sourceId} --verify-secret-file FILE\`.`
  return [finding("signatures", "warn", message)]
}

const ofDroppedHeaders = ({ droppedHeaders: dropped }: DiagnosticsReport): ReadonlyArray<Finding> =>
  dropped.map(({ sourceId, name, provider }) =>
    finding(
      "sender",
      "warn",
      `Source ${sourceId} (${name}) receives events from ${providerNamed(provider).title}, whose headers have information that the body lacks, and the source drops them. Keep them with \`cabinet source set ${sourceId} --from ${provider}\`.`,
    ),
  )

const ofLimited = ({ limitedRequests: limited }: DiagnosticsReport): ReadonlyArray<Finding> => {
  if (limited.length === 0) return []
  const each = limited.map(
    ({ sourceId, name, count, since, lastAt }) =>
      `${counted(count, "request", "requests")} to source ${sourceId} (${name}), from ${since} to ${lastAt}`,
  )
  const message = `Requests were refused with 429, because there were too many a minute: ${each.join("; ")}. Most senders send them again. CABINET_INTAKE_RATE is how many are taken of one source and of one client address; \`cabinet source set ${limited[0]!.sourceId} --rate N\` gives a source a rate of its own.`
  return [finding("rates", "warn", message)]
}

const ofSoleClient = ({ soleClient: sole }: DiagnosticsReport): ReadonlyArray<Finding> => {
  if (sole === null) return []
  const message = `The last ${sole.requests} requests to intake all came from ${sole.address}, although ${sole.programs} different programs sent them. If that is the address of a proxy, set CABINET_TRUSTED_PROXIES to it: until then all clients share one rate and one limit of wrong credentials, and events do not have their sender's address.`
  return [finding("clients", "warn", message)]
}

/** The URL that a server without a base URL records: the address on which it listens. */
const LISTENING = /^https?:\/\/(?:localhost|127\.[0-9.]+|\[::1\])(?::|$)/

const ofSignedAddresses = ({ signedAddresses: signed, baseUrl }: DiagnosticsReport): ReadonlyArray<Finding> => {
  if (signed.length === 0 || (baseUrl !== null && !LISTENING.test(baseUrl))) return []
  const each = signed.map(({ sourceId, name, recipe }) => `source ${sourceId} (${name}, ${recipe})`)
  const known =
    baseUrl === null
      ? "no server has been given the base URL"
      : `the base URL is ${baseUrl}, where only this machine is`
  const message = `Some senders sign the public address with their requests: those of ${each.join(", ")}. Here ${known}, so their requests signed for another address are refused. Set BASE_URL to the beginning of the address that they use.`
  return [finding("base URL", "warn", message)]
}

const ofSearch = ({ outdatedSearchIndexes: outdated }: DiagnosticsReport): Finding =>
  outdated.length === 0
    ? finding("search", "ok", "All search indexes are complete.")
    : finding(
        "search",
        "warn",
        `Searches do not use the search index of ${outdated.join(", ")}, because it lacks newer columns or was never completed. Rebuild it with: cabinet table search-index ${outdated[0]!}`,
      )

/** A column whose name no word can hold has no such index made by the command. */
const word = (text: string): string => shellWord(text) ?? "…"

const seconds = (millis: number): string => `${(millis / 1000).toFixed(1)} s`

const ofSlowReads = ({ slowReads: slow }: DiagnosticsReport): ReadonlyArray<Finding> => {
  if (slow.length === 0) return []
  const each = slow.map(
    ({ name, columns, count, meanMillis, worstMillis, since, lastAt }) =>
      `${counted(count, "read", "reads")} of ${name} by ${columns.join(", ")}, ${seconds(meanMillis)} on average, ${seconds(worstMillis)} at most, from ${since} to ${lastAt}: cabinet table index ${[name, ...columns].map(word).join(" ")}`,
  )
  return [finding("slow reads", "warn", `Reads were slow that an index would serve. ${each.join("; ")}`)]
}

const ofIndexes = ({ tablesReadWhole, slowReads }: DiagnosticsReport): ReadonlyArray<Finding> => {
  // By which columns is known of the others.
  const read = tablesReadWhole.filter(({ name }) => slowReads.every((slow) => slow.name !== name))
  if (read.length === 0) return []
  const each = read.map(({ name, times }) => `${name} (${times} times)`)
  const message = `Large tables are often read whole: ${each.join(", ")}. If rows are filtered or sorted by a column of theirs, create an index: cabinet table index ${read[0]!.name} COLUMN; for searches: cabinet table search-index ${read[0]!.name}`
  return [finding("indexes", "warn", message)]
}

const ofReports = ({ reportRights: rights }: DiagnosticsReport): ReadonlyArray<Finding> => {
  if (rights === null) return []
  if (rights.length === 0) return [finding("reports", "ok", "The login for reports can only read.")]
  const message = `The login for reports can ${rights.map(({ right }) => right).join("; ")}: PostgreSQL grants that to every role. Let an administrator run what \`cabinet database url\` prints, after looking at who else needs it.`
  return [finding("reports", "warn", message)]
}

const ofStandby = (state: SeenStandby | null): ReadonlyArray<Finding> => {
  if (state === null) return []
  const { used, lagMillis, maxLagMillis, reason } = state
  const limit = `${maxLagMillis / 1000} s`
  return [
    used
      ? finding(
          "standby",
          "ok",
          `Rows are read from the standby, ${((lagMillis ?? 0) / 1000).toFixed(1)} s behind (at most ${limit}).`,
        )
      : finding(
          "standby",
          "warn",
          `Rows are read from the primary, not from the standby of DATABASE_READ_URL. ${reason ?? ""} Restore the standby, or raise CABINET_READ_LAG (currently ${limit}).`,
        ),
  ]
}

const ofDeliveries = (gauge: QueueGauge): Finding => {
  const numbers = `${gauge.due} due, ${gauge.retrying} to be retried, ${gauge.paused} paused`
  if (gauge.stuck > 0) {
    return finding(
      "deliveries",
      "bad",
      `${counted(gauge.stuck, "delivery has", "deliveries have")} been due for over two minutes but no process sends ${gauge.stuck === 1 ? "it" : "them"} (${numbers}). Start \`cabinet serve\` or \`cabinet worker\`.`,
    )
  }
  if (gauge.behind > 0) {
    const addresses = gauge.behindAddresses
    return finding(
      "deliveries",
      "warn",
      `${addresses.length === 1 ? "Address" : "Addresses"} ${addresses.join(", ")} cannot keep up: ${counted(gauge.behind, "delivery has", "deliveries have")} been due for over two minutes (${numbers}). \`cabinet address log ${addresses[0]}\` shows how long ${addresses.length === 1 ? "it takes" : "the first takes"} to respond and how often it fails. Make the receiver faster, filter its events with \`cabinet address set ${addresses[0]} --where\`, or start more workers.`,
    )
  }
  if (gauge.failingAddresses > 0) {
    return finding(
      "deliveries",
      "warn",
      `${counted(gauge.failingAddresses, "address fails", "addresses fail")} (${numbers}). \`cabinet address list\` shows which, \`cabinet address log ID\` shows why.`,
    )
  }
  return finding("deliveries", "ok", `Deliveries are being sent: ${numbers}.`)
}

const ofConnection = ({ transport, verified, isLoopback, server }: SeenConnection): Finding => {
  if (transport === "socket")
    return finding("connection", "ok", `The database is reached through a socket on this machine, in ${server}.`)
  if (transport === "tls") {
    if (verified === "name")
      return finding("connection", "ok", `Sessions with ${server} are encrypted, and the server is verified.`)
    const known =
      verified === "authority"
        ? "its certificate's authority is verified, but not the host name"
        : "the server is not verified"
    return finding(
      "connection",
      "warn",
      `Sessions with ${server} are encrypted, but ${known}: somebody in between could impersonate it. Add sslmode=verify-full to DATABASE_URL, and name the server's certificate authority in DATABASE_CA if it is not a public one.`,
    )
  }
  return isLoopback
    ? finding("connection", "ok", `Sessions with ${server} are in clear text and stay on this machine.`)
    : finding(
        "connection",
        "warn",
        `Sessions with ${server} are in clear text: somebody in between could read and change it. Enable TLS on the server, and add sslmode=verify-full to DATABASE_URL.`,
      )
}

/** Libraries in the shipped PostgreSQL that its package has not renewed. */
const SHIPPED = "libxml2 2.9.4, OpenSSL 1.1.1 and ICU 60"

const ofShipped = ({ major, others }: SeenShipped): Finding => {
  const same = others.find((other) => other.major === major)
  const first = same ?? others[0]
  const libraries = `The embedded PostgreSQL comes with ${SHIPPED}, which get no fixes any more; functions of XML are revoked there.`
  if (same !== undefined) {
    return finding(
      "libraries",
      "warn",
      `${libraries} This machine has a PostgreSQL ${major} of its own, which can serve the same data with the libraries of the system: set CABINET_POSTGRES_BIN=${same.bin} and start again.`,
    )
  }
  const offer =
    first === undefined
      ? `Install PostgreSQL ${major} on this machine`
      : `For a new data directory, CABINET_POSTGRES_BIN=${first.bin} uses this machine's PostgreSQL ${first.major}; for these data, install PostgreSQL ${major}`
  return finding(
    "libraries",
    "ok",
    `${libraries} ${offer}, and name the directory of its programs in CABINET_POSTGRES_BIN.`,
  )
}

/** The facts to interpret. What only a command on the server's machine knows may be absent: nothing is said of it then. */
export interface Seen {
  readonly connection?: SeenConnection
  readonly roles?: SeenRoles
  readonly reading?: "on" | "off"
  readonly diagnostics: DiagnosticsReport
  /** Null without a standby. */
  readonly standby?: SeenStandby | null
  readonly gauge: QueueGauge
  /** Only for the shipped PostgreSQL. */
  readonly shipped?: SeenShipped | undefined
}

export const findingsOf = ({
  connection,
  roles,
  reading = "on",
  diagnostics,
  standby = null,
  gauge,
  shipped,
}: Seen): ReadonlyArray<Finding> => [
  ...(connection === undefined ? [] : [ofConnection(connection)]),
  ...(roles === undefined ? [] : ofRoles(roles, reading)),
  ...ofDatabase(diagnostics),
  ...(shipped === undefined ? [] : [ofShipped(shipped)]),
  ...ofNeighbours(diagnostics),
  ...authorityFindings(diagnostics),
  ofPolls(diagnostics),
  ...ofImports(diagnostics),
  ...ofSignatures(diagnostics),
  ...ofLimited(diagnostics),
  ...ofDroppedHeaders(diagnostics),
  ...ofSoleClient(diagnostics),
  ...ofSignedAddresses(diagnostics),
  ofSearch(diagnostics),
  ...ofSlowReads(diagnostics),
  ...ofIndexes(diagnostics),
  ...ofReports(diagnostics),
  ...ofStandby(standby),
  ofDeliveries(gauge),
]
