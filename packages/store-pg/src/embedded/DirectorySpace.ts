/** The space on the disk of a directory, here that of the embedded PostgreSQL's data. */
import { statfs } from "node:fs/promises"
import { Effect, Layer } from "effect"
import { DiskSpace } from "@data-cabinet/core/notice/SendNotices"

export const layer = (path: string) =>
  Layer.succeed(DiskSpace, {
    look: Effect.tryPromise(async () => {
      const { bavail, blocks, bsize } = await statfs(path)
      return { path, freeBytes: bavail * bsize, totalBytes: blocks * bsize }
    }).pipe(Effect.catch(() => Effect.succeed(null))),
  })
