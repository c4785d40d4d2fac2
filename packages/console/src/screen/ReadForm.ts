/** The fields of a form of the console, at most 1 MiB of them, url-encoded as browsers send them. */
import { HeldBodies, type Limits } from "@data-cabinet/http-node/intake/BodyLimits"
import { queryPairs } from "@data-cabinet/http-node/api/QueryPairs"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import type { Request } from "@data-cabinet/http-node/server/Request"
import { timerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import { Effect, Result } from "effect"
import type { Pairs } from "./ConsoleScreen.ts"
import { bodyOf } from "@data-cabinet/http-node/intake/IncomingBody"

const LIMITS: Limits = { maxBytes: 1_048_576, idle: 10_000, total: 30_000, buffered: 64 * 1_048_576, store: 0 }

export type ReadForm = (request: Request) => Effect.Effect<Pairs, ManageError>

const refuse = (code: ManageError["code"], message: string) => Effect.fail<ManageError>({ code, message })

export const formReader = Effect.gen(function* () {
  const budget = yield* HeldBodies
  const wheel = yield* timerWheel
  const read: ReadForm = Effect.fnUntraced(function* (request) {
    if (!/^application\/x-www-form-urlencoded\s*(;.*)?$/i.test((request.headers["content-type"] ?? "").trim())) {
      return yield* refuse("unsupported_media_type", "Send the form as a browser does: url-encoded.")
    }
    const body = bodyOf(request, LIMITS, budget, wheel)
    const whole = yield* Effect.onInterrupt(Effect.promise(body.whole), () => Effect.sync(body.drop))
    if (Result.isSuccess(whole)) return queryPairs(Buffer.from(whole.success).toString("latin1"))
    return yield* "code" in whole.failure && whole.failure.code === "too_large"
      ? refuse("too_large", `The form has more than ${LIMITS.maxBytes} bytes.`)
      : refuse("unavailable", "The form did not arrive whole.")
  })
  return read
})
