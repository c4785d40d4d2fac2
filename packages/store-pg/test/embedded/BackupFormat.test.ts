/** The names that a restore accepts from a file of unknown origin. */
import { resolve } from "node:path"
import { clusterPath } from "@data-cabinet/store-pg/embedded/BackupFormat"
import { assert, expect, it } from "@effect/vitest"
import { Schema } from "effect"

const Parts = Schema.Array(Schema.Literals(["base", "..", ".", "", "1_fsm", "a b", "C:", "\\", "pg_wal", "\0", "…"]))
const Name = Schema.Struct({ top: Schema.Literals(["pgdata", "", "..", "/", "pgdata "]), parts: Parts })

it.prop(
  "clusterPath maps any name to a path below the cluster's directory, or refuses it",
  [Name],
  ([{ top, parts }]) => {
    const name = [top, ...parts].join("/")
    let path: ReadonlyArray<string>
    try {
      path = clusterPath("file", name)
    } catch (error) {
      assert.match((error as Error).message, /which does not belong in a backup/)
      return
    }
    const whole = resolve("/somewhere/pgdata", ...path)
    assert.isTrue(whole === "/somewhere/pgdata" || whole.startsWith("/somewhere/pgdata/"))
    assert.isTrue(path.every((part) => /^[\w.-]+$/.test(part) && part !== ".."))
  },
  { arbitrary: { runs: 300, size: 6 } },
)

it("clusterPath accepts the names of a cluster's files", () => {
  expect(clusterPath("file", "pgdata/")).toEqual([])
  expect(clusterPath("file", "pgdata/base/5/16384_fsm.1")).toEqual(["base", "5", "16384_fsm.1"])
})
