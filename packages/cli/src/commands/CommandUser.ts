/** The user who runs a command on the machine of its cabinet. */
import { userInfo } from "node:os"
import type { Actor } from "@data-cabinet/core/audit/Actor"

/** The command's user has the database's URL, and may do everything. */
export const whoRunsThis = (): Actor => {
  const from = { from: null, requestId: null }
  return { kind: "cli", id: null, name: userName(), role: "owner", ...from }
}

/** Without an entry in the system's list of users, as in some containers, there is only a number. */
export const userName = (): string => {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? "unknown")
  }
}
