import { MAX_RECENT_READERS, RECENT_MILLIS, RecentReaders } from "@data-cabinet/core/key/RecentReaders"
import { assert, it } from "vitest"

const reader = (n: number) => new Uint8Array([n >> 8, n & 255])

it("keeps a reader for some seconds after its last admitted request", () => {
  const recent = new RecentReaders()
  assert.isFalse(recent.has(reader(1), 0))
  recent.note(reader(1), true, 0)
  assert.isTrue(recent.has(reader(1), RECENT_MILLIS - 1))
  assert.isFalse(recent.has(reader(1), RECENT_MILLIS))
  assert.isFalse(recent.has(reader(2), 0))
  recent.note(reader(1), true, RECENT_MILLIS)
  assert.isTrue(recent.has(reader(1), RECENT_MILLIS + 1))
})

it("forgets a reader whose last request was refused", () => {
  const recent = new RecentReaders()
  recent.note(reader(1), true, 0)
  recent.note(reader(1), false, 1)
  assert.isFalse(recent.has(reader(1), 2))
})

it("keeps a bounded number of readers, those of the latest requests", () => {
  const recent = new RecentReaders()
  for (let n = 0; n < MAX_RECENT_READERS; n++) recent.note(reader(n), true, 0)
  recent.note(reader(0), true, 1)
  recent.note(reader(MAX_RECENT_READERS), true, 1)
  assert.isTrue(recent.has(reader(0), 1))
  assert.isFalse(recent.has(reader(1), 1))
  assert.isTrue(recent.has(reader(2), 1))
})
