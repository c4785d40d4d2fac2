/**
 * A file that gets a secret when it is issued. It is reserved first, with a line that says so: where a process ends between the
 * issue and the writing, the next one finds that line, knows that nobody has the secret, and issues another.
 */
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { Effect } from "effect"
import { CommandError } from "../error/CommandError.ts"

const RESERVED = "# cabinet apply is issuing this secret\n"

const PRIVATE = 0o600

/** Whether a process that was to write the file ended before it did. */
export const isInterrupted = (path: string): boolean => {
  try {
    return statSync(path).size === RESERVED.length && readFileSync(path, "utf8") === RESERVED
  } catch {
    return false
  }
}

/** Whether a process ended while it reserved the file, before it issued anything. */
const isPartlyReserved = (path: string): boolean => {
  try {
    return statSync(path).size < RESERVED.length && RESERVED.startsWith(readFileSync(path, "utf8"))
  } catch {
    return false
  }
}

/** Why the file cannot be written, in words; null if it can. */
export const misfitOf = (path: string): string | null => {
  if (!existsSync(dirname(path))) return `There is no folder ${dirname(path)}.`
  if (!existsSync(path) || isInterrupted(path) || isPartlyReserved(path)) return null
  return "The file exists already, and is not overwritten: it may hold another secret. Remove it, or name another one."
}

const attempt = <A>(path: string, write: () => A) =>
  Effect.try({
    try: write,
    catch: (error) =>
      new CommandError({
        code: "refused",
        message: `${path} cannot be written: ${(error as NodeJS.ErrnoException).code ?? "unknown error"}.`,
      }),
  })

const reserve = (path: string) =>
  Effect.as(
    attempt(path, () => {
      if (isInterrupted(path)) return
      const file = openSync(path, isPartlyReserved(path) ? "w" : "wx", PRIVATE)
      writeFileSync(file, RESERVED)
      closeSync(file)
    }),
    {
      /** Writes the secret in one step. */
      write: (secret: string) =>
        attempt(path, () => {
          // One name, so that what a killed process leaves is replaced by the next.
          const beside = join(dirname(path), `.${basename(path)}.cabinet-new`)
          writeFileSync(beside, `${secret}\n`, { mode: PRIVATE })
          renameSync(beside, path)
        }),
    },
  )

/** Writes secrets where a file says. */
export const IssuedFile = { reserve }
