/** The access tokens of a cabinet: shown once when issued, listed without the secret, revoked immediately. */
import { Context, Effect, Layer, Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { AccessToken, IssuedAccessToken, NewAccessToken } from "./AccessToken.ts"
import { AccessTokenStore } from "./AccessTokenStore.ts"
import { checkHolderName, checkLifetime, KeyError } from "./KeyError.ts"
import { parseRole, ROLES } from "./Role.ts"

/** A program without types may send any word. */
const checkRole = (role: string): Effect.Effect<void, KeyError> =>
  parseRole(role) === null
    ? Effect.fail(new KeyError({ code: "bad_role", message: `A role must be one of ${ROLES.join(", ")}.` }))
    : Effect.void

export class AccessTokens extends Context.Service<
  AccessTokens,
  {
    readonly issue: (token: NewAccessToken) => Effect.Effect<IssuedAccessToken, KeyError | StoreUnavailable>
    readonly list: Effect.Effect<ReadonlyArray<AccessToken>, StoreUnavailable>
    readonly revoke: (id: number) => Effect.Effect<AccessToken, KeyError | StoreUnavailable>
    /** Finds the token with this fingerprint, neither revoked nor expired, and records its use. */
    readonly find: (fingerprint: Uint8Array) => Effect.Effect<Option.Option<AccessToken>, StoreUnavailable>
  }
>()("@data-cabinet/core/key/AccessTokens") {
  static readonly layer = Layer.effect(
    AccessTokens,
    Effect.map(AccessTokenStore, (store) =>
      AccessTokens.of({
        issue: (token) =>
          checkHolderName(token.name, "A token").pipe(
            Effect.andThen(checkRole(token.role)),
            Effect.andThen(checkLifetime(token.expiresInSeconds)),
            Effect.andThen(store.issue(token)),
          ),
        list: store.list,
        revoke: Effect.fnUntraced(function* (id) {
          const revoked = yield* store.revoke(id)
          if (Option.isSome(revoked)) return revoked.value
          return yield* new KeyError({ code: "no_such_key", message: `There is no token ${id}.` })
        }),
        find: store.find,
      }),
    ),
  )
}
