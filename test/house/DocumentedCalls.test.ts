/** The table of calls in docs/embedding.md lists the members of an open cabinet, and the calls of each. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, it } from "vitest"

const root = join(import.meta.dirname, "..", "..")
const page = readFileSync(join(root, "docs/embedding.md"), "utf8")
const surface = readFileSync(join(root, "packages/cli/public.d.txt"), "utf8")

/** The members of an interface of the library, each with its type. */
const membersOf = (name: string): ReadonlyArray<readonly [member: string, type: string]> => {
  const [, body = ""] = new RegExp(`^interface ${name} \\{\\n([^]*?)^\\}`, "m").exec(surface) ?? []
  return [...body.matchAll(/^ {4}readonly (\w+): (.*)$/gm)].map(([, member, type]) => [member!, type!])
}

/** The rows of the table: names in the first cell, calls in the second. */
const rows = page
  .slice(page.indexOf("## Calls"), page.indexOf("**Numbers.**"))
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => line.split("|").map((cell) => cell.trim()))
const codeIn = (cell: string): ReadonlyArray<string> =>
  [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, code]) => code!.split(" "))

it("the table of calls lists every member of a cabinet", () => {
  const members = membersOf("Cabinet").map(([member]) => member)
  assert.include(members, "sources")
  assert.sameMembers(
    rows.flatMap(([, names]) => codeIn(names!)),
    members.filter((member) => !["nodeHandler", "fetchHandler", "baseUrl"].includes(member)),
  )
})

it("the table of calls lists every call of a member", () => {
  const apis = membersOf("Cabinet").filter(([, type]) => /^\w+Api;/.test(type))
  assert.isAbove(apis.length, 10)
  for (const [member, type] of apis) {
    const row = rows.find(([, names]) => codeIn(names!).includes(member))
    assert.deepStrictEqual(
      codeIn(row![2]!),
      membersOf(type.slice(0, -1)).map(([call]) => call),
      member,
    )
  }
})
