import { claimedRoles } from "@data-cabinet/delivery/person/OpenIdProvider"
import { expect, it } from "vitest"

const claims = {
  roles: ["a", 1, null, "b"],
  one: "x",
  realm_access: { roles: ["deep"] },
  "realm_access.roles": "flat",
  n: { m: {} },
}

it("claimedRoles reads a text, a list, and what a path leads to", () => {
  expect(claimedRoles(claims, "roles")).toEqual(["a", "b"])
  expect(claimedRoles(claims, "one")).toEqual(["x"])
  expect(claimedRoles({ realm_access: { roles: ["deep"] } }, "realm_access.roles")).toEqual(["deep"])
  expect(claimedRoles(claims, "realm_access.roles")).toEqual(["flat"])
})

it("claimedRoles finds nothing at a missing path or an inherited property", () => {
  for (const name of ["", "none", "n.m", "n.m.o", "one.length", "roles.length.x", "constructor.name", "__proto__"]) {
    expect(claimedRoles(claims, name)).toEqual([])
  }
})
