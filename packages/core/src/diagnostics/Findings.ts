/** Interprets the diagnostics of a cabinet: each item examined, its state, and the remedy for a problem. */
import type { QueueGauge } from "../delivery/DeliveryQueue.ts"
import { counted } from "../text/Counted.ts"
import { authorityFindings } from "./AuthorityFindings.ts"
import { ofCold } from "./ColdFindings.ts"
import { ofDatabase } from "./DatabaseFindings.ts"
import type { DiagnosticsReport } from "./Diagnostics.ts"
import { ofFollowers } from "./FollowerFindings.ts"
import { readFindings, ofReports, ofRoles, ofStandby, type SeenRoles, type SeenStandby } from "./ReadFindings.ts"
import { ofImports } from "./RowFindings.ts"
import { senderFindings } from "./SenderFindings.ts"
import { ofConnection, ofNeighbours, ofShipped, type SeenConnection, type SeenShipped } from "./ServerFindings.ts"
import { type Finding, finding } from "./Doctor.ts"

const ofPolls = ({ failingPolls: failing }: DiagnosticsReport): Finding => {
  if (failing.length === 0) return finding("polls", "ok", "No poll is failing.")
  const each = failing.map(({ id, sourceId, failures }) => `poll ${id} of source ${sourceId} (${failures} in a row)`)
  const message = `Polls are failing: ${each.join(", ")}. \`cabinet poll log ${failing[0]!.id}\` shows why; \`cabinet poll pause ID\` stops the retries.`
  return finding("polls", "warn", message)
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

/**
 * The facts to interpret. Facts that only a command on the server's machine can know may be absent, and are then not
 * mentioned.
 */
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

/** All findings, in the order of display. */
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
  ofFollowers(diagnostics),
  ...ofCold(diagnostics),
  ofPolls(diagnostics),
  ...ofImports(diagnostics),
  ...senderFindings(diagnostics),
  ...readFindings(diagnostics),
  ...ofReports(diagnostics),
  ...ofStandby(standby),
  ofDeliveries(gauge),
]
