import {
  claimLease,
  failLease,
  type FollowerLease,
  movePlace,
  releaseLease,
  retryMillis,
} from "@data-cabinet/core/follower/FollowerLease"
import { assert, it } from "vitest"

const placeAt = (id: number) => ({ epoch: 1, xid: BigInt(id), id })

const row: FollowerLease = { place: placeAt(5), lease: 3, leasedUntil: 100, notBefore: 0, failures: 0 }

it("claimLease draws a new fencing token when the lease has ended", () => {
  assert.isNull(claimLease(row, 99, 60))
  assert.deepStrictEqual(claimLease(row, 100, 60), { ...row, lease: 4, leasedUntil: 160 })
})

it("claimLease leaves a waiting follower alone", () => {
  assert.isNull(claimLease({ ...row, notBefore: 101 }, 100, 60))
})

it("movePlace renews the lease, and forgets failures, when its holder has done the work", () => {
  const failed = { ...row, failures: 4 }
  assert.deepStrictEqual(movePlace(failed, 3, placeAt(7), 50, 60), { ...row, place: placeAt(7), leasedUntil: 110 })
})

it("movePlace accepts an expired lease that nobody has claimed since", () => {
  assert.deepStrictEqual(movePlace(row, 3, placeAt(6), 500, 60)?.place, placeAt(6))
})

it("movePlace changes nothing if another holder has claimed the follower, or if the position is not ahead", () => {
  assert.isNull(movePlace(row, 2, placeAt(7), 50, 60))
  assert.isNull(movePlace(row, 3, placeAt(4), 50, 60))
})

it("failLease keeps the position, and waits longer each time, when the work fails", () => {
  const once = failLease(row, 3, 50)!
  assert.deepStrictEqual(once, { ...row, failures: 1, leasedUntil: 50, notBefore: 1_050 })
  assert.strictEqual(failLease(once, 3, 2_000)!.notBefore, 4_000)
  assert.isNull(failLease(row, 2, 50))
  assert.deepStrictEqual([1, 2, 9, 10, 1_000].map(retryMillis), [1_000, 2_000, 256_000, 300_000, 300_000])
})

it("releaseLease lets the follower rest when its holder has reached the end of the feed", () => {
  assert.deepStrictEqual(releaseLease(row, 3, 50, 15), { ...row, leasedUntil: 50, notBefore: 65 })
  assert.isNull(releaseLease(row, 2, 50, 15))
})
