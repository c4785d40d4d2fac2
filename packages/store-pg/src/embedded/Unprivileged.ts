/**
 * PostgreSQL refuses to run as root. When we are root, this finds a way to run
 * it as somebody else without changing the machine: no user is made, nothing
 * outside the data directory changes hands. Ways are tried in order, on the
 * very directory where the database will live, and the first that works is used:
 *
 * 1. a user namespace in which we look like `nobody`: files stay root's, so even
 *    a directory that only root can enter will do;
 * 2. the user `nobody` with the one capability to pass file permissions;
 * 3. plainly the user `postgres` or `nobody`, which must be able to reach both the
 *    binaries and the data directory.
 */
import { spawnSync } from "node:child_process"
import { chownSync, lchownSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"

/** A way to run a program unprivileged. */
export interface Launcher {
  readonly name: "direct" | "namespace" | "capability" | "user"
  /** Words before the program's own. */
  readonly prefix: ReadonlyArray<string>
  /** Identity given to the process by `spawn`. */
  readonly identity?: { readonly uid: number; readonly gid: number }
  /** Who must own the database's files, seen from outside; undefined: whoever makes them. */
  readonly owner?: { readonly uid: number; readonly gid: number }
}

const nobody = { uid: 65534, gid: 65534 }

/** All ways worth trying for this process, best first. */
export const candidates = (): ReadonlyArray<Launcher> => {
  if (process.getuid === undefined || process.getuid() !== 0) return [{ name: "direct", prefix: [] }]
  const user = systemUser("postgres") ?? systemUser("nobody") ?? nobody
  return [
    {
      name: "namespace",
      prefix: ["unshare", "--user", "--map-user=65534", "--map-group=65534", "--"],
      owner: { uid: 0, gid: 0 },
    },
    {
      name: "capability",
      prefix: [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        "--inh-caps=+dac_override",
        "--ambient-caps=+dac_override",
        "--",
      ],
      owner: nobody,
    },
    { name: "user", prefix: [], identity: user, owner: user },
  ]
}

/**
 * The first launcher that can run `program --version` and write below `dir`.
 * @throws EmbeddedPostgresError `no_unprivileged_user` (root) or `no_binaries`
 */
export const findLauncher = (
  program: string,
  env: Readonly<Record<string, string>>,
  dir: string,
  among: ReadonlyArray<Launcher> = candidates(),
): Launcher => {
  const reasons: Array<string> = []
  for (const launcher of among) {
    const fault = probe(launcher, program, env, dir)
    if (fault === undefined) return launcher
    reasons.push(`${launcher.name}: ${fault}`)
  }
  if (among[0]?.name === "direct") {
    throw new EmbeddedPostgresError({
      code: "no_binaries",
      message: `The shipped PostgreSQL does not run here (${reasons.join("; ")}). Set DATABASE_URL to a PostgreSQL 15 to 18 of your own.`,
    })
  }
  throw new EmbeddedPostgresError({
    code: "no_unprivileged_user",
    message:
      `PostgreSQL refuses to run as root, and no other way worked (${reasons.join("; ")}). ` +
      "Start as an ordinary user, put the clone and the data directory where the user nobody can reach them, or set DATABASE_URL.",
  })
}

/** Gives `dir` and all below it to whom the launcher needs; a cluster may have been made by another way before. */
export const giveTo = (launcher: Launcher, dir: string): void => {
  const owner = launcher.owner
  if (owner === undefined) return
  if (lstatSync(dir).uid === owner.uid) return
  // The top goes last: while it has its old owner, an interrupted walk is begun again.
  for (const entry of readdirSync(dir, { recursive: true })) lchownSync(join(dir, String(entry)), owner.uid, owner.gid)
  chownSync(dir, owner.uid, owner.gid)
}

const probe = (
  launcher: Launcher,
  program: string,
  env: Readonly<Record<string, string>>,
  dir: string,
): string | undefined => {
  const place = mkdtempSync(join(dir, "probe-"))
  try {
    giveTo(launcher, place)
    const words =
      process.platform === "win32"
        ? [program, "--version"]
        : [
            ...launcher.prefix,
            "/bin/sh",
            "-c",
            'test "$(id -u)" != 0 && : >"$0/x" && exec "$1" --version',
            place,
            program,
          ]
    const result = spawnSync(words[0]!, words.slice(1), {
      cwd: "/",
      env: { ...process.env, ...env },
      encoding: "utf8",
      timeout: 10_000,
      ...launcher.identity,
    })
    if (result.status === 0) return undefined
    return (
      (result.error?.message ?? result.stderr.trim().split("\n").at(-1)) || `exit ${result.status ?? result.signal}`
    )
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

const systemUser = (name: string): { uid: number; gid: number } | undefined => {
  try {
    const line = readFileSync("/etc/passwd", "utf8")
      .split("\n")
      .find((entry) => entry.startsWith(`${name}:`))
    const [, , uid, gid] = line?.split(":") ?? []
    return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
  } catch {
    return undefined
  }
}
