/** The screen of the audit log. */
import { AuditLog } from "@data-cabinet/core/audit/AuditLog"
import { Effect } from "effect"
import { ConsoleSettings } from "../ConsoleSettings.ts"
import { idOf } from "../screen/Act.ts"
import type { ConsoleScreen, Pairs } from "../screen/ConsoleScreen.ts"
import { valueOf } from "../screen/SelectionLinks.ts"
import { AUDIT_FILTERS, auditScreen } from "./AuditScreen.ts"

const LIMIT = 50

/** A filter without a value does not count. No name has a NUL, which the database refuses in text. */
const filterOf = (pairs: Pairs) =>
  Object.fromEntries(
    AUDIT_FILTERS.flatMap((name) => {
      const value = (valueOf(pairs, name) ?? "").replaceAll("\0", "").trim()
      return value === "" ? [] : [[name, value] as const]
    }),
  )

export const auditScreens = Effect.gen(function* () {
  const log = yield* AuditLog
  const { timeZone } = yield* ConsoleSettings
  const screens: ReadonlyArray<ConsoleScreen> = [
    {
      path: "/console/audit",
      action: "audit.read",
      get: Effect.fnUntraced(function* ({ frame, pairs }) {
        const before = idOf(valueOf(pairs, "before"))
        const query = { ...filterOf(pairs), limit: LIMIT + 1, ...(before === 0 ? {} : { before }) }
        const found = yield* log.list(query)
        const entries = found.slice(0, LIMIT)
        const next = found.length > LIMIT ? (entries.at(-1)?.id ?? null) : null
        return { screen: auditScreen(frame, { entries, next, pairs, timeZone }) }
      }),
    },
  ]
  return screens
})
