/**
 * The TCP port of the embedded server, on which reports are read: off unless a port is set, on the loopback only, and
 * only for the logins for reports. Any other login is rejected before a password counts.
 *
 * The rules of access are a file of our own, because those that initdb writes trust every user of the machine.
 */
import { chmodSync, chownSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { REPORTS_GROUP } from "../migrations/ReportsRole.ts"
import { ownerRole } from "./Bootstrap.ts"
import type { Launcher } from "./Unprivileged.ts"

const LOOPBACK = "127.0.0.1"

const rules = (superuser: string): string => `# Written at each start: changes are lost.
local all all trust
local replication all trust
host all ${ownerRole},${superuser} all reject
host all +${REPORTS_GROUP} ${LOOPBACK}/32 scram-sha-256
host all all all reject
`

/** How long a connection may take to log in: those that do not finish use up the server's connections meanwhile. */
const LOGIN_SECONDS = 5

/** Writes the rules, and returns the settings with which the server listens on the port as well. */
export const reportsSettings = (pgdata: string, superuser: string, launcher: Launcher): Record<string, string> => {
  const file = join(pgdata, "cabinet_hba.conf")
  writeFileSync(file, rules(superuser), { mode: 0o600 })
  chmodSync(file, 0o600)
  if (launcher.owner !== undefined) chownSync(file, launcher.owner.uid, launcher.owner.gid)
  return {
    listen_addresses: LOOPBACK,
    hba_file: file,
    password_encryption: "scram-sha-256",
    authentication_timeout: `${LOGIN_SECONDS}s`,
  }
}
