/**
 * The memory of an export does not depend on its size: the peak of `cabinet export` for a whole table, in each format, compared
 * with that for one row. `EXPORT_ROWS` sets the number of rows. `npm run trials -- exports` uses a million, and reads each
 * file back with other programs' readers, value by value.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { endAll, newHome, type Home } from "../support/cabinetProcess.ts"
import { exportedTable, exportedValues, type Form, readersOf } from "../support/exportReaders.ts"
import { withDatabase } from "../support/postgres.ts"

const IS_TRIAL = process.env["EXPORT_ROWS"] !== undefined
const ROWS = Number(process.env["EXPORT_ROWS"] ?? 48_000)
/** The size of all rows' texts: enough that holding them would show, however few rows there are. */
const TEXT_BYTES = 96_000_000
const PADS = Math.round(TEXT_BYTES / ROWS / 32)

/** How much more memory an export of all rows may take than one of a single row. TSV is written like CSV. */
const MOST_MEGABYTES = IS_TRIAL
  ? ({ csv: 150, tsv: 150, ndjson: 150, xlsx: 150, parquet: 150 } as const)
  : ({ csv: 90, ndjson: 110, xlsx: 90, parquet: 140 } as const)
const FORMS = Object.entries(MOST_MEGABYTES) as ReadonlyArray<readonly [Form, number]>

/** Makes the process report its peak memory when it exits, because it cannot be asked afterwards. */
const TELL_PEAK = `data:text/javascript,${encodeURIComponent(
  'import { writeFileSync } from "node:fs"; process.on("exit", () => writeFileSync(process.env.PEAK_FILE, String(process.resourceUsage().maxRSS)))',
)}`

const database = withDatabase()
let home: Home
let idleBytes: number
const file = (name: string) => join(home.dir, name)

/** The peak memory of the process, in bytes. */
const peakOf = async (name: string, ...args: ReadonlyArray<string>): Promise<number> => {
  const env = { DATABASE_URL: database.url, NODE_OPTIONS: `--import=${TELL_PEAK}`, PEAK_FILE: file("peak") }
  const { code, stderr } = await home.cabinet(["export", "public.wide", "--to", file(name), ...args], env)
  assert.deepStrictEqual([code, stderr], [0, ""])
  return Number(readFileSync(file("peak"), "utf8")) * 1_024
}

beforeAll(async () => {
  home = newHome()
  writeFileSync(file("wide.sql"), exportedTable(ROWS, PADS))
  for (const args of [
    ["sql", file("wide.sql")],
    ["schema", "expose", "public"],
  ]) {
    const { code, stderr } = await home.cabinet(args, { DATABASE_URL: database.url })
    assert.strictEqual(code, 0, stderr)
  }
  idleBytes = await peakOf("one.csv", "--where", "id=1")
}, 600_000)
afterAll(endAll)

describe.each(FORMS)("all rows as %s", (form, most) => {
  it("take hardly more memory than one row", { timeout: 600_000 }, async () => {
    const peakBytes = await peakOf(`wide.${form}`)
    const grown = Math.round((peakBytes - idleBytes) / 1_000_000)
    if (IS_TRIAL) console.log(`${ROWS} rows as ${form}: ${grown} MB above ${Math.round(idleBytes / 1_000_000)} MB`)
    assert.isBelow(grown, most, "MB above an export of one row")
  })

  const readers = IS_TRIAL ? readersOf(form).map((reader) => [reader.name, reader] as const) : []
  if (IS_TRIAL && readers.length === 0) console.log(`not read back: this machine has no reader of ${form}`)
  it.for(readers)("are read by %s as they are in the database", { timeout: 3_600_000 }, async ([, reader]) => {
    const values = exportedValues(database)
    let rows = 0
    for await (const row of reader.rows(file(`wide.${form}`))) {
      rows++
      const { value } = await values.next()
      assert.isDefined(value, `row ${rows}`)
      const expected = reader.shown(value!)
      for (const name in expected) {
        if (row[name] !== expected[name]) assert.strictEqual(row[name], expected[name], `${name} of row ${rows}`)
      }
    }
    assert.strictEqual(rows, ROWS)
  })
})
