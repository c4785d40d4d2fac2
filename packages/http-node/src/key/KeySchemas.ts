/** The schemas of the management API's responses: API keys and access tokens. */
import { ROLES } from "@data-cabinet/core/key/Role"
import type { JsonSchema } from "@data-cabinet/core/json/Shape"
import { id, object, orNull, text, time } from "../openapi/SchemaForms.ts"

const keyFields = {
  id: id("Its id.", 1),
  name: text("Its name."),
  prefix: text("The beginning of the secret, to distinguish several."),
  created_at: time("When it was issued."),
  expires_at: orNull(time("When it ends; null: never.")),
  revoked_at: orNull(time("When it was revoked; else null.")),
}

const apiKeyFields = { ...keyFields, last_request_at: orNull(time("Its last request; null: none.")) }

const tokenFields = {
  ...keyFields,
  role: { enum: ROLES, description: "What it may do." },
  only: {
    type: ["array", "null"],
    items: { type: "string" },
    description: "The tables and views that a reader is limited to, by their names now; null: none.",
  },
  last_used_at: orNull(time("Its last use, to the minute; null: none.")),
}

export const KEY_SCHEMAS = {
  Key: object(apiKeyFields, "A key of the read API."),
  IssuedKey: object(
    { ...apiKeyFields, key: text("The key, shown only in this response.") },
    "A key when it is issued.",
  ),
  Token: object(tokenFields, "An access token."),
  IssuedToken: object(
    { ...tokenFields, token: text("The token, shown only in this response.") },
    "A token when it is issued.",
  ),
} satisfies Record<string, JsonSchema>
