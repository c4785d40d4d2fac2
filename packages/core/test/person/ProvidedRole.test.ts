import { providedRole } from "@data-cabinet/core/person/ProvidedRole"
import { expect, it } from "vitest"

const roles = new Map([
  ["admins", "owner"],
  ["staff", "viewer"],
] as const)

it("providedRole returns the highest role among the values of a claim", () => {
  expect(providedRole({ roles, fallback: "editor" }, ["staff", "admins"])).toEqual({ role: "owner", claimed: true })
  expect(providedRole({ roles, fallback: "editor" }, ["other", "staff"])).toEqual({ role: "viewer", claimed: true })
})

it("providedRole grants no role by its name alone, and none without a fallback", () => {
  for (const values of [[], ["owner"], ["Admins"], ["__proto__"]]) {
    expect(providedRole({ roles, fallback: null }, values)).toBeNull()
    expect(providedRole({ roles, fallback: "viewer" }, values)).toEqual({ role: "viewer", claimed: false })
  }
})
