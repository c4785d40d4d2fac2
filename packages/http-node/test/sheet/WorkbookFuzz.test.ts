/**
 * Workbooks with random damage: each is read like the intact one, or refused. For damage to the archive's bytes, its
 * checksums ensure this. Damage to a part before it is packed may change what it says, but ends in a fault at worst.
 * `FUZZ_ROUNDS` sets the number of rounds.
 */
import { assert, it } from "vitest"
import { corpus } from "../../../../test/support/workbooks/corpus.ts"
import { readSheet } from "../../../../test/support/workbooks/readSheet.ts"
import { damaged, damagedBook, random } from "../../../../test/support/workbooks/damaged.ts"
import { SheetFault } from "../../src/sheet/SheetFault.ts"

const ROUNDS = Number(process.env["FUZZ_ROUNDS"] ?? 600)

/** The rows read; undefined if the workbook is refused. Anything but a fault fails the test. */
const readOrRefused = async (bytes: Uint8Array) => {
  try {
    return await readSheet(bytes)
  } catch (cause) {
    if (cause instanceof SheetFault) return undefined
    throw cause
  }
}

it("readWorkbook reads a damaged archive like the intact one, or refuses it", async () => {
  const seeds = corpus().filter((_, n) => n % 9 === 0)
  const next = random(1)
  const whole = new Map<number, unknown>()
  let refused = 0
  for (let round = 0; round < ROUNDS; round++) {
    const n = next(seeds.length)
    const bytes = seeds[n]!.bytes()
    if (!whole.has(n)) whole.set(n, (await readSheet(bytes)).rows)
    const found = await readOrRefused(damaged(bytes, next))
    if (found === undefined || found.rows.some(({ refusal }) => refusal !== undefined)) refused++
    else assert.deepStrictEqual(found.rows, whole.get(n), `${seeds[n]!.name}, round ${round}`)
  }
  assert.isAbove(refused, ROUNDS / 2)
})

it("readWorkbook ends with a fault or with rows, whatever a part contains", async () => {
  const next = random(2)
  for (let round = 0; round < ROUNDS; round++) {
    const found = await readOrRefused(damagedBook(next).bytes)
    for (const row of found?.rows ?? []) {
      assert.isTrue(row.refusal === undefined || row.refusal.reason !== "")
      for (const cell of row.cells) assert.notStrictEqual(cell, undefined)
    }
  }
})
