/**
 * The audit log's summary of a script: how many statements it has, and what the first of them do. No name, literal or
 * comment of the script is repeated: any of them may be a secret.
 */
import type { Act } from "../audit/Managed.ts"

const VERBS = new Set(
  "SELECT INSERT UPDATE DELETE MERGE WITH CREATE ALTER DROP GRANT REVOKE COMMENT TRUNCATE REFRESH VACUUM ANALYZE REINDEX CLUSTER COPY SET RESET BEGIN COMMIT ROLLBACK DO CALL EXPLAIN LOCK VALUES TABLE SHOW REASSIGN".split(
    " ",
  ),
)
const KINDS = new Set(
  "TABLE VIEW MATERIALIZED INDEX UNIQUE FUNCTION PROCEDURE TRIGGER SCHEMA SEQUENCE TYPE DOMAIN ROLE USER POLICY RULE EXTENSION TEMPORARY TEMP OR INTO FROM".split(
    " ",
  ),
)
/** The most statements listed. */
const MAX_LISTED_STATEMENTS = 20

const firstWords = (statement: string): string => {
  const words = statement.replace(/^(?:\s|--[^\n]*(?:\n|$)|\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\/)*/, "").slice(0, 100)
  const [verb = "", kind = ""] = words.toUpperCase().split(/[^A-Z]+/, 2)
  if (!VERBS.has(verb)) return "OTHER"
  return KINDS.has(kind) ? `${verb} ${kind}` : verb
}

export const scriptAct = (statements: ReadonlyArray<string>): Act => ({
  action: "sql.run",
  object: null,
  changes: { statements: statements.length, begin: statements.slice(0, MAX_LISTED_STATEMENTS).map(firstWords) },
})
