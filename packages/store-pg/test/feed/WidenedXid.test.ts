/** The arithmetic of 32-bit transaction ids, in the database, against BigInt. */
import { widenedXid } from "@data-cabinet/store-pg/feed/Fence"
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { inject } from "vitest"
import { databaseUrl, runSql, superuser } from "../../../../test/support/postgresAdmin.ts"

const WRAP = 4_294_967_296n

const widenAll = (pairs: ReadonlyArray<readonly [low: bigint, near: bigint]>) =>
  runSql(
    databaseUrl(inject("postgresSocketDir"), superuser, "postgres"),
    `SELECT (${widenedXid("low", "near")})::text AS wide
     FROM unnest('{${pairs.map(([low]) => low).join(",")}}'::int8[], '{${pairs.map(([, near]) => near).join(",")}}'::int8[])
       WITH ORDINALITY AS pairs(low, near, n) ORDER BY n`,
  ).then((rows) => rows.map((row) => BigInt(row["wide"] as string)))

it("widenedXid restores every id around a 32-bit wraparound, within the range of ids in use", async () => {
  const pairs: Array<readonly [bigint, bigint]> = []
  const expected: Array<bigint> = []
  const offsets = [-(2n ** 31n), -(2n ** 31n) + 1n, -70_000n, -2n, -1n, 0n, 1n, 2n, 70_000n, 2n ** 31n - 1n]
  for (const turn of [0n, 1n, 2n, 1n << 30n]) {
    for (let step = -3n; step <= 3n; step++) {
      const near = turn * WRAP + step
      for (const offset of offsets) {
        const xid = near + offset
        if (near < 3n || xid < 3n) continue
        pairs.push([xid % WRAP, near])
        expected.push(xid)
      }
    }
  }
  assert.isAbove(pairs.length, 150)
  assert.deepStrictEqual(await widenAll(pairs), expected)
})

const near = Schema.Int.check(Schema.isBetween({ minimum: 2 ** 31 + 3, maximum: 2 ** 52 }))
const offset = Schema.Int.check(Schema.isBetween({ minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }))
it.effect.prop(
  "widenedXid restores any id from its low 32 bits",
  [Schema.Array(Schema.Tuple([near, offset])).check(Schema.isMinLength(1), Schema.isMaxLength(200))],
  ([pairs]) =>
    Effect.promise(async () => {
      const ids = pairs.map(([nearby, distance]) => [BigInt(nearby) + BigInt(distance), BigInt(nearby)] as const)
      const widened = await widenAll(ids.map(([xid, around]) => [xid % WRAP, around]))
      assert.deepStrictEqual(
        widened,
        ids.map(([xid]) => xid),
      )
    }),
  { arbitrary: { runs: 20, size: 200 } },
)
