/** The schemas of the management API's responses: people and their sessions. */
import { PERSON_ROLES, ROLES } from "@data-cabinet/core/key/Role"
import { ISSUERS, SIGN_IN_METHODS } from "@data-cabinet/core/person/Person"
import type { JsonSchema } from "@data-cabinet/core/json/Shape"
import { flag, id, object, orNull, text, textOrNull, time } from "../openapi/SchemaForms.ts"

const personFields = {
  id: id("Their id.", 1),
  name: text("Their name."),
  role: { enum: PERSON_ROLES, description: "What they may do." },
  issuer: { enum: [...ISSUERS, null], description: "Who signs them in; null: they sign in here." },
  has_password: flag("Whether they have set a password."),
  created_at: time("When they were added."),
  signed_in_at: orNull(time("When they signed in last; null: never.")),
  link_expires_at: orNull(time("Until when an unused link is valid; else null.")),
  removed_at: orNull(time("When they were removed; else null.")),
}

const session = object(
  {
    id: id("The session's id.", 1),
    person: object({ id: id("The person's id.", 1), name: text("The person's name.") }, "Whose it is."),
    method: { enum: [...SIGN_IN_METHODS], description: "How the person signed in." },
    created_at: time("When it began."),
    last_seen_at: time("Its last request, to the minute."),
    expires_at: time("When it ends at the latest; 12 hours without a request also end it."),
    client: textOrNull("The client address at sign-in."),
    user_agent: textOrNull("The browser at sign-in."),
  },
  "A session of a person.",
)

export const PERSON_SCHEMAS = {
  Self: object(
    {
      kind: { enum: ["token", "person"] },
      id: id("Of the token or the person.", 1),
      name: text("The name."),
      role: { enum: ROLES },
      session: { oneOf: [session, { type: "null" }], description: "Null without one." },
    },
    "Who is asking.",
  ),
  Person: object(personFields, "A person who manages the cabinet."),
  InvitedPerson: object(
    {
      ...personFields,
      link: text("The one-time link, shown only in this response."),
      link_expires_at: time("Until when it is valid."),
    },
    "A person with a one-time link.",
  ),
  Session: session,
} satisfies Record<string, JsonSchema>
