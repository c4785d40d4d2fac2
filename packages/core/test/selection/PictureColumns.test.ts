import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import type { ReadableTable } from "@data-cabinet/core/row/Catalog"
import { ColumnProfile } from "@data-cabinet/core/row/ColumnProfile"
import { PictureColumns } from "@data-cabinet/core/selection/PictureColumns"
import { SelectRows } from "@data-cabinet/core/selection/SelectRows"
import { Effect, Fiber, Layer, Result } from "effect"
import { assert, it } from "vitest"

it("a read for pictures ends with the call of somebody who leaves", async () => {
  const begun = Promise.withResolvers<void>()
  let isEnded = false
  const page: SelectRows["Service"]["page"] = (_, call) => {
    begun.resolve()
    return new Promise((resolve) => {
      call.onAbort(() => {
        isEnded = true
        resolve(Result.fail(new StoreUnavailable({ message: "left", retryAfter: 0, outcomeUnknown: false })))
      })
    })
  }
  const profile = ColumnProfile.of({ statistics: () => Effect.succeedNone })
  const ports = Layer.merge(Layer.succeed(SelectRows, { page }), Layer.succeed(ColumnProfile, profile))
  const table = {
    detail: { schema: "s", name: "t", rows_estimate: 9, key: [], columns: [] },
    columns: [{ name: "a", type: { kind: "text" } }],
  } as unknown as ReadableTable
  const drawing = PictureColumns.use((all) => all.pictures({ table, params: [], columns: ["a"], most: 10 }))
  const fiber = Effect.runFork(Effect.provide(drawing, PictureColumns.layer.pipe(Layer.provide(ports))))
  await begun.promise
  await Effect.runPromise(Fiber.interrupt(fiber))
  assert.isTrue(isEnded)
})
