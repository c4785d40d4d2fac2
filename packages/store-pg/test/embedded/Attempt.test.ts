/** What becomes of an exception below the supervisor. */
import { attempt } from "@data-cabinet/store-pg/embedded/Attempt"
import { Cause, Effect, Exit } from "effect"
import { expect, it } from "vitest"

const thrown = (error: unknown) =>
  Effect.runPromiseExit(
    attempt(async () => {
      throw error
    }),
  )

it.each([
  ["ENOSPC: no space left on device, write", "its disk is full"],
  ["EDQUOT: disk quota exceeded, write", "its disk is full"],
  ["EROFS: read-only file system, open '/d/server.json.7'", "its disk is read-only"],
  ["EIO: i/o error, write", "its disk cannot be read or written"],
])("attempt says %s in words", async (message, reason) => {
  const exit = await thrown(Object.assign(new Error(message), { code: message.slice(0, message.indexOf(":")) }))
  expect(Exit.isFailure(exit) && Cause.squash(exit.cause)).toMatchObject({
    _tag: "EmbeddedPostgresError",
    code: "bad_data_dir",
    message: expect.stringContaining(`: ${reason} (${message})`),
  })
})

it("attempt leaves any other exception a defect", async () => {
  const exit = await thrown(new TypeError("x is not a function"))
  expect(Exit.isFailure(exit) && Cause.hasDies(exit.cause)).toBe(true)
})
