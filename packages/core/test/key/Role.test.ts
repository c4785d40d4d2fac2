import { type Action, mayDo, parseRole, ROLE_NEEDED, ROLES } from "@data-cabinet/core/key/Role"
import { assert, it } from "vitest"

const actions = Object.keys(ROLE_NEEDED) as ReadonlyArray<Action>

it("mayDo allows an owner everything, and an uploader and a reader one action each", () => {
  const allowed = (role: (typeof ROLES)[number]) => actions.filter((action) => mayDo(role, action))
  assert.deepStrictEqual(allowed("owner"), actions)
  assert.deepStrictEqual(allowed("uploader"), ["self.read", "file.upload"])
  assert.deepStrictEqual(allowed("reader"), ["self.read", "row.read"])
})

it("mayDo allows more from viewer to editor to owner; a viewer reveals nothing, and changes only their own saved views", () => {
  for (const action of actions) {
    if (mayDo("viewer", action)) assert.isTrue(mayDo("editor", action), action)
    if (mayDo("editor", action)) assert.isTrue(mayDo("owner", action), action)
    // A saved view belongs to the person who saves it.
    if (action === "view.change") continue
    if (/\.(change|reveal|delete|trash|purge|upload)$/.test(action)) assert.isFalse(mayDo("viewer", action), action)
  }
})

it("parseRole accepts only the names of roles", () => {
  assert.deepStrictEqual(ROLES.map(parseRole), [...ROLES])
  assert.isNull(parseRole("Owner"))
  assert.isNull(parseRole("constructor"))
})
