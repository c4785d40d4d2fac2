/** The inboxes of a remote cabinet. */
import { Inbox, InboxError } from "@data-cabinet/core/inbox/Inbox"
import type { InboxMessage } from "@data-cabinet/core/inbox/InboxMessage"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { ofCodes, refusedAs } from "../http/RemoteRefusal.ts"
import { serverOnly } from "../http/RemoteSettings.ts"

const known = ofCodes(InboxError)

interface ListJson {
  readonly data: ReadonlyArray<InboxMessage>
  readonly nextCursor: string | null
  readonly searchedTo: string | null
}

export const layer = Layer.effect(
  Inbox,
  Effect.map(ManageApi, (api) =>
    Inbox.of({
      forms: serverOnly("The list of inboxes"),
      page: (sourceId, { mark, text, limit, cursor }) => {
        const given = { limit: String(limit), cursor, mark, text }
        const query = Object.entries(given).flatMap(([name, value]) => (value == null ? [] : [[name, value] as const]))
        return Effect.map(
          refusedAs(api.json<ListJson>({ method: "GET", path: ["sources", sourceId, "inbox"], query }), known),
          ({ data, nextCursor, searchedTo }) => ({ items: data, nextCursor, searchedTo }),
        )
      },
      find: (sourceId, event) =>
        refusedAs(api.json<InboxMessage>({ method: "GET", path: ["sources", sourceId, "inbox", event] }), known),
      open: () => serverOnly("A message with all its fields"),
      earlier: () => serverOnly("The earlier messages of an address"),
      figures: () => serverOnly("The figures of an inbox"),
      mark: (sourceId, events, marks) =>
        Effect.map(
          refusedAs(
            api.json<{ readonly count: number }>({
              method: "POST",
              path: ["sources", sourceId, "inbox", "marks"],
              body: { events, ...marks },
            }),
            known,
          ),
          ({ count }) => count,
        ),
    }),
  ),
)
