/** The key that signs cursors, read once from the database that stores it. */
import { CursorKey, CursorKeys } from "@data-cabinet/core/pagination/CursorKey"
import { Effect, Layer } from "effect"
import { StatementClient } from "../connection/OwnerClient.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"

const KEY = "SELECT bytes FROM cabinet.secret WHERE purpose = 'cursors'"

export const layer = Layer.effect(
  CursorKeys,
  Effect.gen(function* () {
    const sql = yield* StatementClient
    let known: Effect.Effect<CursorKey> | undefined
    const read = Effect.gen(function* () {
      const [row] = yield* sql.unsafe<{ bytes: Uint8Array }>(KEY)
      const key = new CursorKey(row!.bytes)
      known = Effect.succeed(key)
      return key
    }).pipe(orUnavailable)
    return CursorKeys.of({ key: Effect.suspend(() => known ?? read) })
  }),
)
