/** Interprets rights in the database that exceed a cabinet's needs. */
import type { DiagnosticsReport } from "./Diagnostics.ts"
import { type Finding, finding } from "./Doctor.ts"

/** Quotes a name for SQL. */
const name = (text: string): string => `"${text.replaceAll('"', '""')}"`
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

type Authority = DiagnosticsReport["authority"]

const ofOutlived = ({ outlivedSessions: outlived }: Authority): ReadonlyArray<Finding> => {
  if (outlived.length === 0) return []
  const each = outlived.map(
    ({ pid, login, application, seconds }) => `process ${pid} (${login}, ${application}, ${Math.round(seconds)} s)`,
  )
  const message = `Reads have outlived their time limit: ${each.join(", ")}. If CABINET_STATEMENT_TIMEOUT is not as long, they run code that PostgreSQL cannot stop, and ending them has failed. Each keeps one of the cabinet's places for reads, and a core, until it ends; restarting PostgreSQL ends it (pg_ctl restart -m immediate).`
  return [finding("stuck reads", "warn", message)]
}

const ofUnstoppable = ({ unstoppableForAll: remedies }: Authority): Finding =>
  remedies.length === 0
    ? finding(
        "unstoppable",
        "ok",
        "Only roles with an explicit grant can run XML functions or write in other trusted languages.",
      )
    : finding(
        "unstoppable",
        "ok",
        `Every role can run what PostgreSQL cannot stop once it runs: the functions of XML, and trusted languages other than PL/pgSQL. A superuser can revoke that: ${remedies.join("; ")};`,
      )

const ofPrepared = ({ preparedTransactions: prepared }: Authority): ReadonlyArray<Finding> => {
  if (prepared.length === 0) return []
  const each = prepared.map((one) => `${one.name} (${one.login}, since ${one.since})`)
  const message = `Transactions were prepared and not ended: ${each.join(", ")}. They keep their locks, and VACUUM from removing dead rows, also over a restart. End one with: ROLLBACK PREPARED ${literal(prepared[0]!.name)}; and switch them off if nothing needs them (max_prepared_transactions = 0).`
  return [finding("prepared", "warn", message)]
}

/** One DROP for all of them: dropping one may drop another that requires it. */
const remakeExtensions = (extensions: Authority["authorsExtensions"]): string =>
  [
    `DROP EXTENSION ${extensions.map((one) => name(one.name)).join(", ")} CASCADE`,
    ...extensions.map((one) => `CREATE EXTENSION ${name(one.name)} SCHEMA ${name(one.schema)}`),
  ]
    .map((statement) => `${statement};`)
    .join(" ")

const ofExtensions = ({ authorsExtensions: extensions, authorCreates }: Authority): ReadonlyArray<Finding> => [
  ...(extensions.length === 0
    ? []
    : [
        finding(
          "extensions",
          "warn",
          `The author owns extensions and could drop them with everything that uses them, search indexes included: ${extensions.map((one) => one.name).join(", ")}. The owner of an extension cannot be changed. Check what depends on them, then let the database's owner run: ${remakeExtensions(extensions)} Then create the indexes again.`,
        ),
      ]),
  ...(authorCreates
    ? [
        finding(
          "author's schemas",
          "warn",
          "The author may create schemas and extensions in the database, by a grant that is not the cabinet's. Have the granting role revoke it; `cabinet schema add NAME` creates a schema for the author.",
        ),
      ]
    : []),
]

const ofSuperuser = ({ authority, user }: DiagnosticsReport): ReadonlyArray<Finding> =>
  authority.isSuperuser
    ? [
        finding(
          "superuser",
          "warn",
          `The cabinet's user ${user} is a superuser, which it need not be: a mistake in any view or function that runs as it reaches the whole server. Let another superuser run: ALTER ROLE ${name(user)} NOSUPERUSER CREATEROLE CREATEDB; (the database must belong to it).`,
        ),
      ]
    : []

/** All of these findings. */
export const authorityFindings = (report: DiagnosticsReport): ReadonlyArray<Finding> => [
  ...ofSuperuser(report),
  ofUnstoppable(report.authority),
  ...ofOutlived(report.authority),
  ...ofPrepared(report.authority),
  ...ofExtensions(report.authority),
]
