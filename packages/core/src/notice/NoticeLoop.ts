/** Sends notices, in every serving process. One process a minute looks for causes. */
import { Effect, Layer } from "effect"
import { background } from "../runtime/Background.ts"
import { NoticeStore } from "./NoticeStore.ts"
import { SendNotices } from "./SendNotices.ts"

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { claimRound } = yield* NoticeStore
    const { send } = yield* SendNotices
    const round = Effect.flatMap(claimRound, (claimed) => (claimed ? send : Effect.succeed(0)))
    // An unavailable database is reported by everything that needs it.
    yield* background("notices", "1 minute", round, { firstAfter: "15 seconds", quiet: true })
  }),
)
