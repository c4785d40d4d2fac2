/** Keys of the read API and access tokens over the management API. Each is shown once, when it is issued. */
import { AccessTokens } from "@data-cabinet/core/key/AccessTokens"
import { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import { accessTokenShape, issuedTokenShape } from "@data-cabinet/core/key/AccessToken"
import { apiKeyShape, issuedKeyShape } from "@data-cabinet/core/key/ApiKey"
import { ROLES } from "@data-cabinet/core/key/Role"
import { Effect, Schema } from "effect"
import { idPage, list, one } from "../manage/ManageResponses.ts"
import { lifetimeField, nameField, text } from "../manage/ManageBodies.ts"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import { idPageParameters, idSegment, secondsParameter } from "../manage/ManageParameters.ts"

export const newKey = Schema.Struct({ name: nameField, expires_in_seconds: Schema.optionalKey(lifetimeField) })
export const newToken = Schema.Struct({
  name: nameField,
  role: Schema.Literals(ROLES).annotate({ description: "What it may do." }),
  only: Schema.optionalKey(
    Schema.NullOr(Schema.Array(text(200, "A table or view, such as sources.orders."))).annotate({
      description:
        "For the role reader: the tables and views that it may read; the table of a source includes the source and its events. Null or absent: everything.",
    }),
  ),
  expires_in_seconds: Schema.optionalKey(lifetimeField),
})

const KEEP_OLD = secondsParameter("keep_old_seconds", "For how long the old key stays valid: 60 to 2,592,000 seconds.")

export const manageKeys = Effect.gen(function* () {
  const keys = yield* ApiKeys
  const tokens = yield* AccessTokens
  const named = { errors: ["bad_name"], params: { bad_name: "/name" } } as const
  const found = { errors: ["no_such_key"], params: { no_such_key: "id" } } as const
  return [
    manageEndpoint({
      id: "listKeys",
      tag: "Keys",
      method: "GET",
      path: "/manage/v1/keys",
      summary: "The keys of the read API",
      description: "By id, revoked ones too. For the next page send `next_cursor` as `after`.",
      action: "key.read",
      parameters: idPageParameters,
      response: list(apiKeyShape, "The keys."),
      respond: ({ query }) => idPage(keys.list, query, apiKeyShape.json),
    }),
    manageEndpoint({
      ...named,
      id: "issueKey",
      tag: "Keys",
      method: "POST",
      path: "/manage/v1/keys",
      summary: "Issue a key",
      description: "The key is shown only in this response.",
      action: "key.change",
      once: { completed: "transaction", withheld: ["key"], replay: one(apiKeyShape, "The key.") },
      body: newKey,
      response: one(issuedKeyShape, "The key.", 201),
      respond: ({ body }) => Effect.map(keys.issue(body.name, body.expires_in_seconds ?? null), issuedKeyShape.json),
    }),
    manageEndpoint({
      id: "rotateKey",
      tag: "Keys",
      method: "POST",
      path: "/manage/v1/keys/{id}/rotate",
      summary: "Replace a key",
      description:
        "Issues a key with the same name and lifetime, shown only in this response. The old one ends immediately, or after `keep_old_seconds`.",
      action: "key.change",
      once: { completed: "transaction", withheld: ["key"], replay: one(apiKeyShape, "The key.") },
      segments: [idSegment("The id of the old key.")],
      parameters: [KEEP_OLD],
      errors: ["no_such_key", "bad_expiry"],
      params: { no_such_key: "id", bad_expiry: "keep_old_seconds" },
      response: one(issuedKeyShape, "The new key.", 201),
      respond: ({ path: [old], query: { keep_old_seconds: keepOldSeconds = null } }) =>
        Effect.map(keys.rotate(old, { keepOldSeconds }), issuedKeyShape.json),
    }),
    manageEndpoint({
      ...found,
      id: "revokeKey",
      tag: "Keys",
      method: "POST",
      path: "/manage/v1/keys/{id}/revoke",
      summary: "Revoke a key",
      description: "Requests with it get 401 from then on.",
      action: "key.change",
      segments: [idSegment("The key's id.")],
      response: one(apiKeyShape, "The key."),
      respond: ({ path: [key] }) => Effect.map(keys.revoke(key), apiKeyShape.json),
    }),
    manageEndpoint({
      id: "listTokens",
      tag: "Keys",
      method: "GET",
      path: "/manage/v1/tokens",
      summary: "The access tokens",
      description: "By id, revoked ones too. For the next page send `next_cursor` as `after`.",
      action: "token.read",
      parameters: idPageParameters,
      response: list(accessTokenShape, "The tokens."),
      respond: ({ query }) => idPage(tokens.list, query, accessTokenShape.json),
    }),
    manageEndpoint({
      errors: ["bad_name", "bad_only", "no_such_table"],
      params: { bad_name: "/name", bad_only: "/only", no_such_table: "/only" },
      id: "issueToken",
      tag: "Keys",
      method: "POST",
      path: "/manage/v1/tokens",
      summary: "Issue an access token",
      description: "The token is shown only in this response.",
      action: "token.change",
      once: { completed: "transaction", withheld: ["token"], replay: one(accessTokenShape, "The token.") },
      body: newToken,
      response: one(issuedTokenShape, "The token.", 201),
      respond: ({ body: { name, role, only = null, expires_in_seconds: expiresInSeconds = null } }) =>
        Effect.map(tokens.issue({ name, role, only, expiresInSeconds }), issuedTokenShape.json),
    }),
    manageEndpoint({
      ...found,
      id: "revokeToken",
      tag: "Keys",
      method: "POST",
      path: "/manage/v1/tokens/{id}/revoke",
      summary: "Revoke an access token",
      description: "Requests with it get 401 from then on.",
      action: "token.change",
      segments: [idSegment("The token's id.")],
      response: one(accessTokenShape, "The token."),
      respond: ({ path: [token] }) => Effect.map(tokens.revoke(token), accessTokenShape.json),
    }),
  ]
})
