/**
 * A file that appears complete or not at all: written under a temporary name, and renamed when everything is on disk.
 * On standard output only the exit code shows a failure.
 */
import { randomBytes } from "node:crypto"
import { open, realpath, rename, rm, stat } from "node:fs/promises"
import { Effect, type Scope } from "effect"
import { CommandError } from "../error/CommandError.ts"
import { plainBytes } from "./PlainText.ts"

export interface Output {
  /** Resolves once it has taken the bytes: a slow reader thus bounds the memory in use. */
  readonly write: (bytes: Uint8Array) => Promise<void>
  /** To be called after the last bytes. */
  readonly finish: () => Promise<void>
}

const refused = (path: string, error: unknown) =>
  new CommandError({
    code: "refused",
    message: `Cannot write ${path}: ${error instanceof Error ? error.message : String(error)}`,
  })

const attempt = <A>(path: string, work: () => Promise<A>) =>
  Effect.tryPromise({ try: work, catch: (error) => refused(path, error) })

/** The file that a name resolves to; only a file can be replaced by a file. */
const targetOf = async (path: string): Promise<string> => {
  const target = await realpath(path).catch(() => path)
  const found = await stat(target).catch(() => null)
  if (found === null || found.isFile()) return target
  throw new Error("it is not a file")
}

/** The file is not created if the scope closes before `finish`. */
export const outputFile = Effect.fnUntraced(function* (
  path: string,
): Effect.fn.Return<Output, CommandError, Scope.Scope> {
  const target = yield* attempt(path, () => targetOf(path))
  const beside = `${target}.${randomBytes(6).toString("hex")}.part`
  const file = yield* Effect.acquireRelease(
    attempt(path, () => open(beside, "wx")),
    (handle) =>
      Effect.promise(async () => {
        await handle.close().catch(() => {})
        // Not there any more if it has been renamed.
        await rm(beside, { force: true })
      }),
  )
  const guarded = async (work: () => Promise<unknown>) => {
    try {
      await work()
    } catch (error) {
      throw refused(path, error)
    }
  }
  return {
    write: (bytes) => guarded(() => file.writeFile(bytes)),
    finish: () =>
      guarded(async () => {
        await file.sync()
        await file.close()
        await rename(beside, target)
      }),
  }
})

/** A terminal gets text without the characters that it would act on, anything else the very bytes. */
export const standardOutput = (): Output => {
  const plain = process.stdout.isTTY ? plainBytes() : undefined
  return {
    write: (bytes) => new Promise((resolve) => process.stdout.write(plain?.(bytes) ?? bytes, () => resolve())),
    finish: async () => {},
  }
}
