/** What the audit log says of keys, tokens, people and sessions. */
import type { AccessTokens } from "../key/AccessTokens.ts"
import type { ApiKeys } from "../key/ApiKeys.ts"
import type { People } from "../person/People.ts"
import type { Sessions } from "../person/Sessions.ts"
import { type Acts, act, making } from "./Acts.ts"

/** An entry for each method of `ApiKeys`. */
export const KEYS: Acts<ApiKeys["Service"]> = {
  issue: (name, expiresInSeconds = null) => making("key.issue", "key", { name, expires_in_seconds: expiresInSeconds }),
  rotate: (id, { keepOldSeconds = null } = {}) => act("key.rotate", `key ${id}`, { keep_old_seconds: keepOldSeconds }),
  list: null,
  revoke: (id) => act("key.revoke", `key ${id}`),
}

/** An entry for each method of `AccessTokens`. */
export const TOKENS: Acts<AccessTokens["Service"]> = {
  issue: ({ name, role, expiresInSeconds, only = null }) =>
    making("token.issue", "token", {
      name,
      role,
      expires_in_seconds: expiresInSeconds,
      ...(only === null ? {} : { only }),
    }),
  list: null,
  revoke: (id) => act("token.revoke", `token ${id}`),
  find: null,
}

/** An entry for each method of `People`; passwords are never logged. */
export const PEOPLE: Acts<People["Service"]> = {
  add: (person) => making("person.add", "person", { ...person }),
  list: null,
  get: null,
  set: (id, change) => act("person.change", `person ${id}`, { ...change }),
  remove: (id) => act("person.remove", `person ${id}`),
  link: (id) => act("person.link", `person ${id}`),
  setPassword: ({ personId }) => act("person.set_password", `person ${personId}`),
  resolveExternal: null,
}

/** An entry for each method of `Sessions`. */
export const SESSIONS: Acts<Sessions["Service"]> = {
  find: null,
  peek: null,
  list: null,
  end: (id) => act("session.end", `session ${id}`),
  endAll: (id) => act("session.end_all", `person ${id}`),
}
