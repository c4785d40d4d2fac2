/** The audit log of a remote cabinet, which its own server writes. */
import { type AuditEntry, type auditEntryShape, AuditLog, type AuditQuery } from "@data-cabinet/core/audit/AuditLog"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { refusalAsDefect } from "../http/RemoteRefusal.ts"
import { serverOnly } from "../http/RemoteSettings.ts"

/** The most that the API returns at once. */
const MAX_PAGE = 1000

type Sent = ReturnType<typeof auditEntryShape.json>

/** The names of the changed fields are the log's own, whatever their spelling. */
const entryOf = ({ actor, role, client, request_id, ended_at, ...entry }: Sent): AuditEntry => ({
  ...entry,
  actor: { ...actor, role, from: client, requestId: request_id },
  endedAt: ended_at,
})

export const layer = Layer.effect(
  AuditLog,
  Effect.map(ManageApi, (api) => {
    const page = ({ limit, before, action, object, who }: AuditQuery) => {
      const query = Object.entries({ before, action, object, who }).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, String(value)] as const],
      )
      return Effect.map(
        refusalAsDefect(api.text({ method: "GET", path: ["audit"], query: [["limit", String(limit)], ...query] })),
        (text) => JSON.parse(text) as { readonly data: ReadonlyArray<Sent>; readonly next_cursor: string | null },
      )
    }

    return AuditLog.of({
      begin: () => serverOnly("The audit log"),
      end: () => serverOnly("The audit log"),
      list: Effect.fnUntraced(function* (query) {
        const entries: Array<AuditEntry> = []
        let before = query.before
        while (entries.length < query.limit) {
          const limit = Math.min(MAX_PAGE, query.limit - entries.length)
          const { data, next_cursor } = yield* page({ ...query, limit, before })
          for (const entry of data) entries.push(entryOf(entry))
          if (next_cursor === null) break
          before = Number(next_cursor)
        }
        return entries
      }),
    })
  }),
)
