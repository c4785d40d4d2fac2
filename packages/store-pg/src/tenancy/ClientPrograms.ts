/**
 * Runs PostgreSQL's client programs, `pg_dump` and `pg_restore`. npm ships none, so they come from the machine. They
 * get passwords through the environment, which other users of the machine cannot read, and never as arguments.
 */
import { spawn, spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { Effect, Data } from "effect"

/**
 * - `no_programs`: the machine has no `pg_dump` or `pg_restore`, or too old ones.
 * - `unfit`: the target is not an empty database of the same name, or lacks a right.
 * - `busy`: something in the old database kept its locks for too long.
 * - `failed`: a program failed, or the copy is not whole.
 */
export type CopyErrorCode = "no_programs" | "unfit" | "busy" | "failed"

export class CopyError extends Data.TaggedError("CopyError")<{
  readonly code: CopyErrorCode
  readonly message: string
}> {}

export interface ClientPrograms {
  readonly dump: string
  readonly restore: string
}

const versionOf = (program: string): number | undefined => {
  const { stdout } = spawnSync(program, ["--version"], { encoding: "utf8" })
  const major = /\(PostgreSQL\) (\d+)/.exec(stdout ?? "")?.[1]
  return major === undefined ? undefined : Number(major)
}

/** The programs in `bin`, if it has them, else those on the path; refuses programs older than the server. */
export const clientPrograms = (
  bin: string | undefined,
  serverMajor: number,
): Effect.Effect<ClientPrograms, CopyError> =>
  Effect.gen(function* () {
    const found = (name: string) => (bin !== undefined && existsSync(join(bin, name)) ? join(bin, name) : name)
    const programs = { dump: found("pg_dump"), restore: found("pg_restore") }
    for (const [name, program] of Object.entries({ pg_dump: programs.dump, pg_restore: programs.restore })) {
      const major = versionOf(program)
      const what = `To move a cabinet, this machine needs pg_dump and pg_restore of PostgreSQL ${serverMajor} or newer`
      const how = `install them (on Debian the package postgresql-client-${serverMajor}), or name their directory in CABINET_POSTGRES_BIN`
      if (major === undefined) {
        return yield* new CopyError({ code: "no_programs", message: `${what}, and has no ${name}: ${how}.` })
      }
      if (major < serverMajor) {
        const message = `${what}, and its ${name} is version ${major}: ${how}.`
        return yield* new CopyError({ code: "no_programs", message })
      }
    }
    return programs
  })

/** The same URL without its password, which goes into the environment. */
const withoutPassword = (url: string): { readonly url: string; readonly env: Record<string, string> } => {
  const parsed = new URL(url)
  const password = parsed.searchParams.get("password") ?? decodeURIComponent(parsed.password)
  parsed.password = ""
  parsed.searchParams.delete("password")
  return { url: parsed.toString(), env: password === "" ? {} : { PGPASSWORD: password } }
}

/** Runs a program on a database to its end, and returns its output. Interruption ends it. */
export const runProgram = (
  program: string,
  words: ReadonlyArray<string>,
  url?: string,
): Effect.Effect<string, CopyError> =>
  Effect.callback<string, CopyError>((resume) => {
    const at = url === undefined ? undefined : withoutPassword(url)
    // Settings in the environment for other programs must not apply here.
    const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("PG")))
    const child = spawn(program, at === undefined ? words : [...words, `--dbname=${at.url}`], {
      env: { ...inherited, ...at?.env },
      stdio: ["ignore", "pipe", "pipe"],
    })
    const text = { stdout: "", stderr: "" }
    child.stdout.on("data", (chunk: Buffer) => (text.stdout += chunk.toString()))
    child.stderr.on("data", (chunk: Buffer) => (text.stderr = (text.stderr + chunk.toString()).slice(-4_000)))
    const fail = (why: string) =>
      resume(Effect.fail(new CopyError({ code: "failed", message: `${program} failed: ${why.trim()}` })))
    child.once("error", (error) => fail(error.message))
    child.once("close", (code, signal) => {
      if (code === 0) resume(Effect.succeed(text.stdout))
      else fail(text.stderr === "" ? `it ended with ${code ?? signal}` : text.stderr)
    })
    return Effect.sync(() => void child.kill("SIGTERM"))
  })
