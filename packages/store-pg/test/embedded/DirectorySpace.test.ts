import { Effect } from "effect"
import { assert, it } from "vitest"
import * as DirectorySpace from "../../src/embedded/DirectorySpace.ts"
import { DiskSpace } from "@data-cabinet/core/notice/SendNotices"

const look = (path: string) =>
  Effect.runPromise(DiskSpace.use((disk) => disk.look).pipe(Effect.provide(DirectorySpace.layer(path))))

it("DirectorySpace returns the space of a directory's disk", async () => {
  const { path, freeBytes, totalBytes } = (await look("/tmp"))!
  assert.strictEqual(path, "/tmp")
  assert.isAbove(totalBytes, 1_000_000)
  assert.isTrue(freeBytes >= 0 && freeBytes <= totalBytes)
})

it("DirectorySpace returns null for a directory that does not exist", async () => {
  assert.isNull(await look("/tmp/there/is/none"))
})
