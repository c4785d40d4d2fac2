/** Interprets who reads rows, from where, and how fast. */
import { counted } from "../text/Counted.ts"
import { shellWord } from "../text/ShellWord.ts"
import type { DiagnosticsReport } from "./Diagnostics.ts"
import { type Finding, finding } from "./Doctor.ts"

/** A role of the database, or why it cannot be used. */
type SeenRole = { readonly there: true; readonly role: string } | { readonly there: false; readonly reason: string }

/** The roles as this process prepared them. */
export interface SeenRoles {
  readonly reader: SeenRole
  readonly author: SeenRole
}

/** The standby of `DATABASE_READ_URL`, or why it is not used. */
export interface SeenStandby {
  readonly used: boolean
  readonly lagMillis: number | null
  readonly maxLagMillis: number
  readonly reason: string | null
}

/** The roles that read rows and run scripts. */
export const ofRoles = (roles: SeenRoles, reading: "on" | "off"): ReadonlyArray<Finding> => [
  reading === "off"
    ? finding("reading", "warn", "Reading is switched off by CABINET_READING.")
    : roles.reader.there
      ? finding("reading", "ok", `Rows are read as ${roles.reader.role}.`)
      : finding("reading", "bad", roles.reader.reason),
  roles.author.there
    ? finding("author", "ok", `\`cabinet sql\` runs as ${roles.author.role}.`)
    : finding("author", "warn", roles.author.reason),
]

const ofSearch = ({ outdatedSearchIndexes: outdated }: DiagnosticsReport): Finding =>
  outdated.length === 0
    ? finding("search", "ok", "All search indexes are complete.")
    : finding(
        "search",
        "warn",
        `Searches do not use the search index of ${outdated.join(", ")}, because it lacks newer columns, was built by an earlier version, or was never completed. Rebuild it with: cabinet table search-index ${outdated[0]!}`,
      )

/** The column's name in a shell command; an ellipsis if the shell cannot hold it. */
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
  // Only these have slow reads that name the columns.
  const read = tablesReadWhole.filter(({ name }) => slowReads.every((slow) => slow.name !== name))
  if (read.length === 0) return []
  const each = read.map(({ name, times }) => `${name} (${times} times)`)
  const message = `Large tables are often read whole: ${each.join(", ")}. If rows are filtered or sorted by a column of theirs, create an index: cabinet table index ${read[0]!.name} COLUMN; for searches: cabinet table search-index ${read[0]!.name}`
  return [finding("indexes", "warn", message)]
}

/** Reports what the login for reports may do beyond reading. */
export const ofReports = ({ reportRights: rights }: DiagnosticsReport): ReadonlyArray<Finding> => {
  if (rights === null) return []
  if (rights.length === 0) return [finding("reports", "ok", "The login for reports can only read.")]
  const message = `The login for reports can ${rights.map(({ right }) => right).join("; ")}: PostgreSQL grants that to every role. Let an administrator run what \`cabinet database url\` prints, after looking at who else needs it.`
  return [finding("reports", "warn", message)]
}

/** Where rows are read from. */
export const ofStandby = (state: SeenStandby | null): ReadonlyArray<Finding> => {
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

/** Searches and indexes. */
export const readFindings = (diagnostics: DiagnosticsReport): ReadonlyArray<Finding> => [
  ofSearch(diagnostics),
  ...ofSlowReads(diagnostics),
  ...ofIndexes(diagnostics),
]
