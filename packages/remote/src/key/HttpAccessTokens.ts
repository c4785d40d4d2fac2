/** The access tokens of a remote cabinet. */
import type { AccessToken, IssuedAccessToken } from "@data-cabinet/core/key/AccessToken"
import { AccessTokens } from "@data-cabinet/core/key/AccessTokens"
import { checkHolderName, checkLifetime, checkList, KeyError } from "@data-cabinet/core/key/KeyError"
import { Effect, Layer } from "effect"
import { idPages, ManageApi } from "../http/ManageApi.ts"
import { refusalAsDefect, ofCodes, refusedAs } from "../http/RemoteRefusal.ts"
import { serverOnly } from "../http/RemoteSettings.ts"

const known = ofCodes(KeyError)

export const layer = Layer.effect(
  AccessTokens,
  Effect.map(ManageApi, (api) =>
    AccessTokens.of({
      issue: Effect.fnUntraced(function* ({ name, role, only = null, expiresInSeconds: expires_in_seconds }) {
        yield* checkHolderName(name, "A token")
        yield* checkLifetime(expires_in_seconds)
        yield* checkList(role, only)
        const body = { name, role, expires_in_seconds, ...(only === null ? {} : { only }) }
        return yield* refusedAs(api.json<IssuedAccessToken>({ method: "POST", path: ["tokens"], body }), known)
      }),
      list: (query) => refusalAsDefect(idPages<AccessToken>(api, "tokens", query)),
      revoke: (id) => refusedAs(api.json<AccessToken>({ method: "POST", path: ["tokens", id, "revoke"] }), known),
      find: () => serverOnly("The check of a token"),
    }),
  ),
)
