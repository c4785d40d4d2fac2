/**
 * The `options` of a database URL, `-c name=value -c name=value` or `--name=value`: settings for every session. They are set
 * by a statement and not sent when a session is opened, because poolers refuse or drop them there. Anything else that
 * the server's command line knows is refused, and so is a setting that a cabinet depends on.
 */
import { Result } from "effect"
import { PINNED } from "./SessionSettings.ts"

/** As PostgreSQL splits them: at whitespace, with a backslash before a literal character. */
const words = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/(?:\\[\s\S]|[^\s\\])+/g)].map(([word]) => word.replaceAll(/\\([\s\S])/g, "$1"))

const NAME = /^[a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)?$/i

/** Names and values; fails with the end of the sentence "it must be …". */
export const readOptions = (text: string): Result.Result<ReadonlyArray<readonly [string, string]>, string> => {
  const all = words(text)
  const read: Array<readonly [string, string]> = []
  for (let at = 0; at < all.length; at++) {
    const word = all[at]!
    const setting = word === "-c" ? all[++at] : /^(?:-c|--)(.*)$/s.exec(word)?.[1]
    const equals = setting?.indexOf("=") ?? -1
    if (setting === undefined || equals < 1) {
      return Result.fail("a URL whose options are settings, such as options=-c%20work_mem%3D8MB")
    }
    // On a command line a hyphen may replace an underscore.
    const name = setting.slice(0, equals).replaceAll("-", "_")
    if (!NAME.test(name)) return Result.fail("a URL whose options name settings of PostgreSQL")
    if (PINNED.has(name.toLowerCase())) {
      return Result.fail(`a URL whose options leave ${name} alone: a cabinet depends on its own value of it`)
    }
    read.push([name, setting.slice(equals + 1)])
  }
  return Result.succeed(read)
}
