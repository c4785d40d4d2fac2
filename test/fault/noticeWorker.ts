/**
 * Runs one round of notices in a separate process, and kills itself, like `kill -9`, `before` or `after` an event is committed.
 * Arguments: the database, the step.
 */
import { EventLog } from "@data-cabinet/core/event/EventLog"
import { SendNotices } from "@data-cabinet/core/notice/SendNotices"
import { Effect, Layer } from "effect"
import { testCabinetLayer } from "../support/testCabinet.ts"

const [url = "", step = "after"] = process.argv.slice(2)
const die = () => process.kill(process.pid, "SIGKILL")

const log = Layer.effect(
  EventLog,
  EventLog.use((real) =>
    Effect.succeed(
      EventLog.of({
        append: async (...given) => {
          if (step === "before") die()
          const appended = await real.append(...given)
          die()
          return appended
        },
      }),
    ),
  ),
)

await Effect.runPromise(
  SendNotices.use(({ send }) => send).pipe(Effect.provide(testCabinetLayer(url, { override: log }))),
)
