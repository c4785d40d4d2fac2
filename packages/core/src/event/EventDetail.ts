/** Everything that is kept of one event, for the one who looks after the cabinet. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { Original } from "./EventLog.ts"

/** The original request as it is kept; `receivedAt` is RFC 3339 in UTC. */
export interface StoredOriginal extends Original {
  readonly receivedAt: string
}

export interface EventRecord {
  /** The Event as the feed shows it, as JSON text. */
  readonly event: string
  readonly sourceId: number
  /** The table of its source; null once that was dropped. */
  readonly table: { readonly schema: string; readonly name: string } | null
  /** True while its row waits behind others for a table that is locked. */
  readonly rowWaits: boolean
  /** Null where there was none (files, polling, the library), or once its time was over. */
  readonly original: StoredOriginal | null
}

export class EventDetail extends Context.Service<
  EventDetail,
  { readonly find: (id: number) => Effect.Effect<Option.Option<EventRecord>, StoreUnavailable> }
>()("@data-cabinet/core/event/EventDetail") {}
