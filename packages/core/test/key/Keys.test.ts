import { ApiKeys, ApiKeyStore } from "@data-cabinet/core/key/ApiKeys"
import { AccessTokens, AccessTokenStore } from "@data-cabinet/core/key/AccessTokens"
import { Catalog } from "@data-cabinet/core/row/Catalog"
import { Effect, Layer } from "effect"
import { expect, it } from "vitest"

/** Empty stores; issuing anything there is a defect. */
const empty = {
  issue: () => Effect.die("the store was asked"),
  list: () => Effect.succeed([]),
  rotate: () => Effect.succeedNone,
  revoke: () => Effect.succeedNone,
  find: () => Effect.succeedNone,
}
const layer = Layer.mergeAll(
  ApiKeys.layer.pipe(Layer.provide(Layer.succeed(ApiKeyStore, empty))),
  AccessTokens.layer.pipe(
    Layer.provide([
      Layer.succeed(AccessTokenStore, empty),
      Layer.mock(Catalog, { find: () => Effect.succeedNone, cached: () => undefined }),
    ]),
  ),
)
const refusal = <A, E>(work: Effect.Effect<A, E, ApiKeys | AccessTokens>) =>
  Effect.runSync(Effect.flip(work.pipe(Effect.provide(layer))))

it.each(["", "  ", "x".repeat(201)])("issue refuses the name %j without a call to the store", (name) => {
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

it.each([0, 59, 1.5, Number.NaN, -90, 315_360_001, Number.POSITIVE_INFINITY])(
  "issue refuses a lifetime of %j seconds without a call to the store",
  (expiresInSeconds) => {
    const refused = {
      code: "bad_expiry",
      message: "An expiry must be 60 to 315,360,000 whole seconds from now.",
    }
    expect(refusal(ApiKeys.use((keys) => keys.issue("a", expiresInSeconds)))).toMatchObject(refused)
    const token = { name: "a", role: "viewer", expiresInSeconds } as const
    expect(refusal(AccessTokens.use((tokens) => tokens.issue(token)))).toMatchObject(refused)
  },
)

it("issue refuses an unknown role, as a program without types may pass it", () => {
  const token = { name: "a", role: "admin" as "owner", expiresInSeconds: null }
  expect(refusal(AccessTokens.use((tokens) => tokens.issue(token)))).toMatchObject({
    code: "bad_role",
    message: "A role must be one of owner, editor, viewer, uploader, reader.",
  })
})

it.each([
  [
    "viewer",
    ["sources.orders"],
    "bad_only",
    "Only a token of the role reader can have a list of objects; this one is viewer.",
  ],
  ["reader", [], "bad_only", "A list must name 1 to 100 tables and views."],
  ["reader", Array.from({ length: 101 }, () => "a.b"), "bad_only", "A list must name 1 to 100 tables and views."],
  [
    "reader",
    ["orders"],
    "no_such_table",
    'No table or view is named "orders". A name includes its schema, such as sources.orders.',
  ],
] as const)("issue refuses for %s the list %j", (role, only, code, message) => {
  const token = { name: "a", role, only, expiresInSeconds: null }
  expect(refusal(AccessTokens.use((tokens) => tokens.issue(token)))).toMatchObject({ code, message })
})

it("revoke refuses an unknown id", () => {
  expect(refusal(ApiKeys.use((keys) => keys.revoke(9)))).toMatchObject({
    code: "no_such_key",
    message: "Key 9 does not exist.",
  })
  expect(refusal(AccessTokens.use((tokens) => tokens.revoke(9)))).toMatchObject({
    code: "no_such_key",
    message: "Token 9 does not exist.",
  })
})
