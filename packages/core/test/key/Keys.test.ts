import { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import { ApiKeyStore } from "@data-cabinet/core/key/ApiKeyStore"
import { AccessTokens } from "@data-cabinet/core/key/AccessTokens"
import { AccessTokenStore } from "@data-cabinet/core/key/AccessTokenStore"
import { Effect, Layer } from "effect"
import { expect, it } from "vitest"

/** Stores that hold nothing; whatever issues there is a defect. */
const empty = {
  issue: () => Effect.die("the store was asked"),
  list: Effect.succeed([]),
  revoke: () => Effect.succeedNone,
  find: () => Effect.succeedNone,
}
const layer = Layer.mergeAll(
  ApiKeys.layer.pipe(Layer.provide(Layer.succeed(ApiKeyStore, empty))),
  AccessTokens.layer.pipe(Layer.provide(Layer.succeed(AccessTokenStore, empty))),
)
const refusal = <A, E>(work: Effect.Effect<A, E, ApiKeys | AccessTokens>) =>
  Effect.runSync(Effect.flip(work.pipe(Effect.provide(layer))))

it.each(["", "  ", "x".repeat(201)])("issue refuses the name %j before the store is asked", (name) => {
  expect(refusal(ApiKeys.use((keys) => keys.issue(name)))).toMatchObject({
    code: "bad_name",
    message: "A key needs a name of 1 to 200 characters.",
  })
  expect(
    refusal(AccessTokens.use((tokens) => tokens.issue({ name, role: "uploader", expiresInSeconds: null }))),
  ).toMatchObject({
    code: "bad_name",
    message: "A token needs a name of 1 to 200 characters.",
  })
})

it("revoke refuses what does not exist", () => {
  expect(refusal(ApiKeys.use((keys) => keys.revoke(9)))).toMatchObject({
    code: "no_such_key",
    message: "There is no key 9.",
  })
  expect(refusal(AccessTokens.use((tokens) => tokens.revoke(9)))).toMatchObject({
    code: "no_such_key",
    message: "There is no token 9.",
  })
})
