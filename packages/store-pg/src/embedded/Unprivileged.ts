/**
 * PostgreSQL refuses to run as root. If we are root, these are the ways to run it as another user without changing the
 * machine: no user is created, and nothing outside the data directory changes its owner. `WorkingLauncher` takes the
 * first that works:
 *
 * 1. a user namespace in which we appear as `nobody`: files stay root's, so even a directory that only root can enter
 *    will do;
 * 2. the user `nobody` with the single capability to bypass file permissions;
 * 3. simply the user `postgres` or `nobody`, which must be able to reach both the binaries and the data directory.
 */
import { spawnSync } from "node:child_process"
import { chownSync, lchownSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"

/** A way to run a program unprivileged. */
export interface Launcher {
  readonly name: "direct" | "namespace" | "capability" | "user"
  /** Arguments before the program's own. */
  readonly prefix: ReadonlyArray<string>
  /** The user and group passed to `spawn`. */
  readonly identity?: { readonly uid: number; readonly gid: number }
  /** The required owner of the database's files, seen from outside; undefined for the user who creates them. */
  readonly owner?: { readonly uid: number; readonly gid: number }
}

const nobody = { uid: 65534, gid: 65534 }

/** All launchers worth trying for this process, best first. */
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
 * Changes the owner of `dir` and everything below it to the one that the launcher needs; a cluster may have been created
 * with another launcher before.
 */
export const giveTo = (launcher: Launcher, dir: string): void => {
  const owner = launcher.owner
  if (owner === undefined) return
  if (lstatSync(dir).uid === owner.uid) return
  // The directory itself comes last: as long as it has its old owner, the next start repeats an interrupted run.
  for (const entry of readdirSync(dir, { recursive: true })) lchownSync(join(dir, String(entry)), owner.uid, owner.gid)
  chownSync(dir, owner.uid, owner.gid)
}

/**
 * Whether `program --version` runs with this launcher and may write below `dir`: returns undefined, or the failure. It is
 * cheap and only proves that a launcher does not work: a server requires more of its surroundings than `--version` does.
 */
export const probe = (
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
