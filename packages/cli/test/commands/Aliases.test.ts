import { firstWord, withoutAliases } from "data-cabinet/commands/Aliases"
import { assert, it } from "vitest"

it.each([
  ["work --json", "worker --json"],
  ["events --follow", "event list --follow"],
  ["--json events", "--json event list"],
  ["--data-dir events events --source 2", "--data-dir events event list --source 2"],
  ["--server https://data.example.com events", "--server https://data.example.com event list"],
  ["event 7", "event show 7"],
  ["event --json 7", "event show --json 7"],
  ["--get row event 7", "--get row event show 7"],
  ["trash 1 2 3", "event trash 1 2 3"],
  ["untrash 1 2", "event restore 1 2"],
  ["purge 2 --yes", "event purge 2 --yes"],
  ["column 1 total --type text", "table column 1 total --type text"],
  ["search-index sources.orders", "table search-index sources.orders"],
  ["expose old", "schema expose old"],
  ["hide old", "schema hide old"],
  ["operator add Ann", "token add Ann"],
  ["cabinets list", "tenant list"],
  ["address cancel 5", "delivery cancel 5"],
  ["--json address --cabinet a cancel 5", "--json delivery --cabinet a cancel 5"],
])("withoutAliases takes `%s` as `%s`", (old, today) => {
  assert.deepStrictEqual(withoutAliases(old.split(" ")), today.split(" "))
})

it.each([
  "",
  "event list",
  "event show 7",
  "source add events",
  "address resend 5",
  "--json",
  "sql -c work",
  "-- events",
  "toString",
])("withoutAliases leaves `%s` as it is", (call) => {
  assert.deepStrictEqual(withoutAliases(call.split(" ")), call.split(" "))
})

it("firstWord finds the command among leading flags", () => {
  assert.strictEqual(firstWord(["--cabinet", "bench", "source", "add", "bench"]), "source")
  assert.strictEqual(firstWord(["--json"]), undefined)
})
