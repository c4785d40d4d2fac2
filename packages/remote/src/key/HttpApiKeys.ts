/** The keys of a remote cabinet's read API. */
import type { ApiKey, IssuedKey } from "@data-cabinet/core/key/ApiKey"
import { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import { checkHolderName, checkKeepOld, checkLifetime, KeyError } from "@data-cabinet/core/key/KeyError"
import { Effect, Layer } from "effect"
import { idPages, ManageApi } from "../http/ManageApi.ts"
import { refusalAsDefect, ofCodes, refusedAs } from "../http/RemoteRefusal.ts"

const known = ofCodes(KeyError)

export const layer = Layer.effect(
  ApiKeys,
  Effect.map(ManageApi, (api) =>
    ApiKeys.of({
      issue: Effect.fnUntraced(function* (name, expires_in_seconds = null) {
        yield* checkHolderName(name, "A key")
        yield* checkLifetime(expires_in_seconds)
        const body = { name, expires_in_seconds }
        return yield* refusedAs(api.json<IssuedKey>({ method: "POST", path: ["keys"], body }), known)
      }),
      rotate: (id, { keepOldSeconds = null } = {}) =>
        Effect.andThen(
          checkKeepOld(keepOldSeconds),
          refusedAs(
            api.json<IssuedKey>({
              method: "POST",
              path: ["keys", id, "rotate"],
              query: keepOldSeconds === null ? [] : [["keep_old_seconds", String(keepOldSeconds)]],
            }),
            known,
          ),
        ),
      list: (query) => refusalAsDefect(idPages<ApiKey>(api, "keys", query)),
      revoke: (id) => refusedAs(api.json<ApiKey>({ method: "POST", path: ["keys", id, "revoke"] }), known),
    }),
  ),
)
