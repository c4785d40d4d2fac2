/**
 * When each cabinet of a server has to be checked, in the server's own database. A process that has a cabinet open
 * postpones that time every minute, so it comes soon after the last such process has closed the cabinet or was killed.
 * Then a worker claims the cabinet, looks into its database, and writes when it has work next. So an idle cabinet costs
 * no worker anything.
 *
 * Decision: docs/decisions/0085-idle-cabinets-say-when-they-are-due.md
 */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { orUnavailable } from "../connection/StoreFailure.ts"

/** Claimed cabinets are checked within this time; those of a killed worker are then claimed by another. */
const CLAIMED = "interval '1 minute'"
/** Longer than the minute after which a process moves the time ahead again. */
const IN_USE = "interval '2 minutes'"
/** A person's command takes less; the work of a killed command is found after this time. */
const COMMAND = "interval '10 minutes'"

/** $1: how many at most. */
const CLAIM = `
WITH due AS (
  SELECT name FROM cabinet.registry_due WHERE due_at <= cabinet.now() ORDER BY due_at LIMIT $1::int4 FOR UPDATE SKIP LOCKED)
UPDATE cabinet.registry_due r SET due_at = cabinet.now() + ${CLAIMED} FROM due WHERE r.name = due.name
RETURNING r.name, r.due_at::text AS until`

/** $1: the cabinet, $2: the end of the claim, $3: seconds. A time that was written meanwhile knows more, and stays. */
const SETTLE = `
UPDATE cabinet.registry_due SET due_at = cabinet.now() + make_interval(secs => $3::float8)
WHERE name = $1 AND due_at = $2::timestamptz`

/** $1: the cabinet. */
const WORKING = `UPDATE cabinet.registry_due SET due_at = cabinet.now() + ${IN_USE} WHERE name = $1`

/** Moves the time nearer only. $1: the cabinet. */
const soon = (within: string): string =>
  `UPDATE cabinet.registry_due SET due_at = cabinet.now() + ${within} WHERE name = $1 AND due_at > cabinet.now() + ${within}`

const [USED, BEGUN, DONE] = [soon(IN_USE), soon(COMMAND), soon("interval '0'")]

/** A cabinet that this process is to look at. */
export interface ClaimedCabinet {
  readonly name: string
  /** The end of the claim; the claim's name as well. */
  readonly until: string
}

const run = (statement: string, ...values: ReadonlyArray<unknown>) =>
  PgClient.PgClient.use((sql) => Effect.asVoid(orUnavailable(sql.unsafe(statement, [...values]))))

/** Claims cabinets that are due, the longest due first. */
export const claimDue = (most: number) =>
  PgClient.PgClient.use((sql) => orUnavailable(sql.unsafe<ClaimedCabinet>(CLAIM, [most])))

/** Ends a claim: the cabinet is due again after these seconds. */
export const settleDue = ({ name, until }: ClaimedCabinet, seconds: number) => run(SETTLE, name, until, seconds)

/**
 * Called every minute by a process that has the cabinet open. `works`: it also does the cabinet's work of every kind; if not,
 * a worker looks at the cabinet within two minutes.
 */
export const dueInUse = (name: string, works: boolean) => run(works ? WORKING : USED, name)

/** A command begins to change the cabinet, or has ended. */
export const dueByCommand = (name: string, state: "begun" | "done") => run(state === "begun" ? BEGUN : DONE, name)
