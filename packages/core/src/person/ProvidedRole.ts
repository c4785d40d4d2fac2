/**
 * The role of a person identified by an identity provider. Without a role from a claim or a setting, nobody is signed
 * in.
 *
 * Decision: docs/decisions/0051-people-of-a-provider.md
 */
import { Context } from "effect"
import { PERSON_ROLES, type PersonRole } from "../key/Role.ts"

/** How a provider's claim determines a role. */
export interface RoleRules {
  /** Roles by the claim's value. */
  readonly roles: ReadonlyMap<string, PersonRole>
  /** The role of people whose claim names none; null: they may not sign in. */
  readonly fallback: PersonRole | null
}

/** The rules of this server. */
export const ProvidedRoles = Context.Reference<RoleRules>("@data-cabinet/core/person/ProvidedRoles", {
  defaultValue: () => ({ roles: new Map(), fallback: null }),
})

/** `claimed`: the claim grants the role now, and may withdraw it; otherwise it is the role of the first sign-in. */
export const providedRole = (
  { roles, fallback }: RoleRules,
  values: ReadonlyArray<string>,
): { readonly role: PersonRole; readonly claimed: boolean } | null => {
  const given = values.map((value) => roles.get(value))
  const most = PERSON_ROLES.find((role) => given.includes(role))
  if (most !== undefined) return { role: most, claimed: true }
  return fallback === null ? null : { role: fallback, claimed: false }
}
