/** The event log in PostgreSQL (see EventWriter, BatchWriter and AcceptStatement). */
import { EventLog } from "@data-cabinet/core/event/EventLog"
import { Memory, MemoryShares } from "@data-cabinet/core/limit/MemoryBudget"
import { DeliverySignal } from "@data-cabinet/core/delivery/DeliverySignal"
import { FeedSignal } from "@data-cabinet/core/feed/FeedSignal"
import { timerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { WriteSessions } from "../connection/WriteSession.ts"
import { BatchWriter } from "./BatchWriter.ts"
import { BlockedBatches } from "./BlockedBatches.ts"
import { EventWriter } from "./EventWriter.ts"

export const layer = Layer.effect(
  EventLog,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const signal = yield* DeliverySignal
    const feed = yield* FeedSignal
    const sessions = yield* WriteSessions
    const wheel = yield* timerWheel
    const blocked = new BlockedBatches(sql)
    const batches = new BatchWriter({ sql, signal, feed, trouble: sessions.trouble, blocked })
    const writer = new EventWriter({ sessions, batches, blocked, wheel, memory: new MemoryShares(yield* Memory) })
    yield* writer.start
    return EventLog.of({ append: (request, deadline, abandoned) => writer.append(request, deadline, abandoned) })
  }),
)
