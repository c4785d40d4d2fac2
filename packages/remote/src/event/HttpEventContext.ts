/** One event of a remote cabinet, with everything stored for it. */
import type { Delivery } from "@data-cabinet/core/delivery/Attempt"
import { EventContext } from "@data-cabinet/core/event/EventContext"
import type { SpamReason } from "@data-cabinet/core/event/EventLog"
import type { StoredOriginal } from "@data-cabinet/core/event/EventDetail"
import { type originalShape, othersOf } from "@data-cabinet/core/event/OriginalShape"
import { Effect, Layer, Option } from "effect"
import { camelKeys } from "@data-cabinet/core/json/KeyCase"
import { ManageApi } from "../http/ManageApi.ts"
import { refusalAsDefect } from "../http/RemoteRefusal.ts"
import { members } from "../http/RawJson.ts"

type SentOriginal = ReturnType<typeof originalShape.json>

const storedOriginal = (sent: SentOriginal, body: Uint8Array): StoredOriginal => ({
  receivedAt: sent.received_at,
  body,
  bodyBytes: sent.body_bytes,
  contentType: sent.content_type,
  ip: sent.ip,
  referer: sent.headers.referer,
  origin: sent.headers.origin,
  userAgent: sent.headers.user_agent,
  acceptLanguage: sent.headers.accept_language,
  charset: sent.encoding.name,
  charsetFrom: sent.encoding.decided_by,
  replaced: sent.encoding.replaced,
  ...othersOf(sent.encoding.others),
  verdict: sent.verification === null ? null : { recipe: sent.verification.recipe, refusal: sent.verification.reason },
  late:
    sent.late_verification === null
      ? null
      : {
          recipe: sent.late_verification.recipe,
          refusal: sent.late_verification.reason,
          at: sent.late_verification.at,
          deliveredAt: sent.late_verification.delivered_at,
        },
  ...(sent.kept_headers.length === 0 && sent.query === null
    ? {}
    : { kept: { headers: sent.kept_headers, query: sent.query } }),
})

export const layer = Layer.effect(
  EventContext,
  Effect.map(ManageApi, (api) => {
    /** The text alone does not suffice: it is only one reading of the bytes. */
    const originalOf = Effect.fnUntraced(function* (id: number, sent: SentOriginal | null) {
      if (sent === null) return null
      if (sent.body_base64 !== null) return storedOriginal(sent, Buffer.from(sent.body_base64, "base64"))
      return storedOriginal(sent, yield* api.bytes({ method: "GET", path: ["events", id, "original"] }))
    })
    const found = Effect.fnUntraced(function* (id: number) {
      const parts = members(yield* api.text({ method: "GET", path: ["events", id] }))
      const text = (name: string) => parts.get(name) ?? "null"
      const row = text("row")
      return Option.some({
        event: text("event"),
        original: yield* originalOf(id, JSON.parse(text("original")) as SentOriginal | null),
        row: row === "null" ? null : row,
        rowWaits: text("row_waits") === "true",
        rowSetAside: JSON.parse(text("row_set_aside")) as string | null,
        spam: JSON.parse(text("spam")) as SpamReason | null,
        deliveries: camelKeys(JSON.parse(text("deliveries"))) as ReadonlyArray<Delivery>,
      })
    })
    return EventContext.of({
      find: (id) =>
        refusalAsDefect(
          Effect.catchIf(
            found(id),
            (error) => error._tag === "RemoteRefusal" && error.code === "no_such_event",
            () => Effect.succeedNone,
          ),
        ),
    })
  }),
)
