/**
 * The password file of libpq, `~/.pgpass`: lines of `host:port:database:user:password`, of which the first match
 * counts. `*` matches everything, and a backslash escapes a colon or a backslash. As in libpq, a file that others may
 * read is not used, but here this is reported.
 */
import { readFileSync, statSync } from "node:fs"
import { Result } from "effect"

export interface PasswordQuery {
  readonly host: string
  readonly port: string
  readonly database: string
  readonly user: string
}

const fieldsOf = (line: string): ReadonlyArray<string> => {
  const [, ...rest] =
    /^((?:\\.|[^\\:])*):((?:\\.|[^\\:])*):((?:\\.|[^\\:])*):((?:\\.|[^\\:])*):((?:\\.|[^\\:])*)/.exec(line) ?? []
  return rest.map((field) => (field === "*" ? "*" : field.replaceAll(/\\(.)/g, "$1")))
}

/** The password for a server in the text of such a file, if there is one. */
export const passwordIn = (text: string, { host, port, database, user }: PasswordQuery): string | undefined => {
  // libpq looks for a socket's default directory as localhost; a named one by its own name.
  const wanted = [host, port, database, user]
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith("#")) continue
    const fields = fieldsOf(line)
    if (fields.length !== 5) continue
    const raw = line.split(":")
    if (wanted.every((value, at) => fields[at] === value || (fields[at] === "*" && raw[at] === "*"))) return fields[4]
  }
  return undefined
}

/**
 * The text of a password file; undefined if the file does not exist. Fails with the end of the sentence "it must be …".
 */
export const readPasswordFile = (path: string): Result.Result<string | undefined, string> => {
  try {
    const { mode } = statSync(path)
    if (process.platform !== "win32" && (mode & 0o077) !== 0) {
      return Result.fail(`a URL with a password, or ${path} readable by its owner alone (chmod 600)`)
    }
    return Result.succeed(readFileSync(path, "utf8"))
  } catch (error) {
    const code = (error as { readonly code?: unknown }).code
    if (code === "ENOENT" || code === "ENOTDIR") return Result.succeed(undefined)
    return Result.fail(`a URL with a password, or ${path} readable (${String(code)})`)
  }
}
