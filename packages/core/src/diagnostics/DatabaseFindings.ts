/** Interprets the state of the database itself. */
import { counted } from "../text/Counted.ts"
import { FENCE_SECONDS } from "../feed/FenceHolder.ts"
import { CABINET_PARTS, type CabinetPart, type DiagnosticsReport } from "./Diagnostics.ts"
import { ofRows } from "./RowFindings.ts"
import { ofTables } from "./TableFindings.ts"
import { type Finding, finding, type Level } from "./Doctor.ts"

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
  // Only a release of the program updates it, so the owner of an installation can do nothing about it.
  return [
    finding(
      "version",
      "ok",
      `The embedded PostgreSQL ${serverVersion} ${lacks}. A later version of the program brings them. To have them now, install PostgreSQL ${major} on this machine and set CABINET_POSTGRES_BIN to the directory of its programs, such as /usr/lib/postgresql/${major}/bin: they use the same data.`,
    ),
  ]
}

const ofCrashes = ({ switchedOff }: DiagnosticsReport): ReadonlyArray<Finding> =>
  switchedOff === null
    ? []
    : [
        finding(
          "commits",
          "warn",
          `Switched off in PostgreSQL: ${switchedOff}. A crash of its machine can lose events that were acknowledged, and damage the database. Switch it on in postgresql.conf.`,
        ),
      ]

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

/** The number of out-of-line values at which a table has used up PostgreSQL's numbers for them. */
const MAX_OUT_OF_LINE = 2 ** 32

const ofOutOfLine = ({ outOfLineValues }: DiagnosticsReport): ReadonlyArray<Finding> => {
  if (outOfLineValues.length === 0) return []
  const percent = (values: number): number => Math.min(100, Math.round((values / MAX_OUT_OF_LINE) * 100))
  const each = outOfLineValues.map(({ table, values }) => `${table} (up to ${percent(values)} %)`)
  const message = `Tables have used half or more of the 4,294,967,296 values that PostgreSQL can store outside the rows of a table: ${each.join(", ")}. Each further one takes longer to store, and at the limit nothing more is accepted. Let new sources write to another cabinet (docs/scale.md).`
  return [finding("large values", "warn", message)]
}

/** The server's version and settings, sizes, clocks, the feed, rows and partitions. */
export const ofDatabase = (diagnostics: DiagnosticsReport): ReadonlyArray<Finding> => {
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
    ...ofCrashes(diagnostics),
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
    ...ofOutOfLine(diagnostics),
    ...ofSetBack(diagnostics),
    ...ofRows(diagnostics),
    ...ofTables(diagnostics),
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
