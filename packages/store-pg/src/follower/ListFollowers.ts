/** Every follower with its lag: the cabinet's own, and those of clients. */
import { CLIENT_KIND, type FollowerState } from "@data-cabinet/core/follower/FollowerStore"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { LIST_CLIENTS } from "./ClientFollowerStatement.ts"
import { LIST } from "./FollowerStatement.ts"

type ClientOnly = "key" | "sourceId" | "channel"
type WorkOnly = "kind" | "failures" | "error" | "retryAt" | "holder"

export const listFollowers = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  const work = yield* sql.unsafe<Omit<FollowerState, ClientOnly>>(LIST)
  const clients = yield* sql.unsafe<Omit<FollowerState, WorkOnly>>(LIST_CLIENTS)
  return [
    ...work.map((row): FollowerState => ({ ...row, key: null, sourceId: null, channel: null })),
    ...clients.map((row): FollowerState => {
      const { key, sourceId, channel, ...place } = row
      const idle = { failures: 0, error: null, retryAt: null, holder: null }
      return { ...place, kind: CLIENT_KIND, ...idle, key, sourceId, channel }
    }),
  ]
})
