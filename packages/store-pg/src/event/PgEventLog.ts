/** The event log in PostgreSQL (see EventWriter, BatchWriter and AcceptStatement). */
import { EventLog } from "@data-cabinet/core/event/EventLog"
import { Memory, MemoryShares } from "@data-cabinet/core/limit/MemoryBudget"
import { DeliverySignal } from "@data-cabinet/core/delivery/DeliverySignal"
import { FeedSignal } from "@data-cabinet/core/feed/FeedSignal"
import { background } from "@data-cabinet/core/runtime/Background"
import { timerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { connectionLossAsError, orUnavailable } from "../connection/StoreFailure.ts"
import { WriteSessions } from "../connection/WriteSession.ts"
import { BatchWriter } from "./BatchWriter.ts"
import { BlockedBatches } from "./BlockedBatches.ts"
import { EventWriter } from "./EventWriter.ts"
import { FilteredCounts } from "./FilteredCounts.ts"
import { WriteReports } from "./WriteReports.ts"

/** Whether the sessions that write events are opened at once and kept: in a process that serves one cabinet. */
export const KeptWriters = Context.Reference<boolean>("@data-cabinet/store-pg/event/KeptWriters", {
  defaultValue: () => false,
})

export const layer = Layer.effect(
  EventLog,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const signal = yield* DeliverySignal
    const feed = yield* FeedSignal
    const sessions = yield* WriteSessions
    const wheel = yield* timerWheel
    const blocked = new BlockedBatches(sql)
    const filtered = new FilteredCounts()
    // Runs once the last batch has ended.
    yield* Effect.addFinalizer(() =>
      Effect.ignore(Effect.timeout(connectionLossAsError(filtered.write(sql)), "1 second")),
    )
    yield* background("filtered event count", "5 seconds", orUnavailable(filtered.write(sql)), { quiet: true })
    const { trouble } = sessions
    const reports = new WriteReports(trouble)
    const batches = new BatchWriter({ sql, signal, feed, trouble, reports, blocked, filtered })
    const memory = new MemoryShares(yield* Memory)
    const isKept = yield* KeptWriters
    const writer = new EventWriter({ sessions, batches, blocked, wheel, memory, reports, isKept })
    yield* writer.start
    return EventLog.of({ append: (request, deadline, abandoned) => writer.append(request, deadline, abandoned) })
  }),
)
