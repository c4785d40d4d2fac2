/** The messages of an inbox as a file, with the filter of its list. */
import { Inbox } from "@data-cabinet/core/inbox/Inbox"
import { Effect } from "effect"
import { idOf } from "../screen/Act.ts"
import type { ConsoleScreen } from "../screen/ConsoleScreen.ts"
import { LIST_FORMATS, listExports } from "../screen/ListExport.ts"
import { inboxQuery } from "./InboxQuery.ts"

const COLUMNS = ["event", "received_at", "name", "email", "subject", "message", "read", "done"]

const PAGE = 200

export const inboxExports = Effect.gen(function* () {
  const inbox = yield* Inbox
  const exported = yield* listExports
  return LIST_FORMATS.map((format): ConsoleScreen => ({
    path: `/console/inbox/{id}/export.${format}`,
    action: "event.read",
    get: ({ path: [id], pairs }) => {
      const source = idOf(id)
      const page = (cursor: string | null) =>
        Effect.map(
          inbox.page(source, { ...inboxQuery(pairs), limit: PAGE, cursor: cursor ?? undefined, whole: true }),
          ({ items, nextCursor }) => ({
            rows: items.map(({ eventId, receivedAt, name, email, subject, message, read, done }) => ({
              event: eventId,
              received_at: receivedAt,
              name,
              email,
              subject,
              message,
              read,
              done,
            })),
            next: nextCursor,
          }),
        )
      return exported({ name: `inbox-${source}`, format, columns: COLUMNS, page })
    },
  }))
})
