/**
 * The format of a backup file: a tar archive, gzipped or not, of
 *
 *   cabinet-backup.json the program that wrote it, and the PostgreSQL version; first password only for a cluster that
 * is reached over TCP pgdata/… the files of the cluster; last its backup label and the log that makes them consistent
 * cabinet-backup-end.json totals, and a digest of everything; last, so that a truncated file has none
 *
 * Rejects backups that this program cannot start: another format, another major version, another platform.
 */
import { createHash } from "node:crypto"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"

export const HEAD_NAME = "cabinet-backup.json"
export const END_NAME = "cabinet-backup-end.json"
export const PASSWORD_NAME = "password"
export const CLUSTER_NAME = "pgdata"

const FORMAT = 1

export interface BackupHead {
  readonly format: number
  /** Major version of PostgreSQL. */
  readonly postgres: number
  /** The files of a cluster fit only the platform that they were written on. */
  readonly platform: string
  readonly arch: string
  /** RFC 3339, by the database's clock, when the backup began. */
  readonly madeAt: string
}

export interface BackupEnd {
  readonly files: number
  /** Bytes of the uncompressed files. */
  readonly bytes: number
  readonly digest: string
}

export const headOf = (postgres: number, madeAt: string): BackupHead => ({
  format: FORMAT,
  postgres,
  platform: process.platform,
  arch: process.arch,
  madeAt,
})

/** A running digest over names, sizes and contents, the same when writing and reading. */
export class BackupSum {
  readonly #all = createHash("sha256")
  #files = 0
  #bytes = 0

  /** `digest`: SHA-256 of the content. */
  add(name: string, size: number, digest: string): void {
    this.#all.update(`${name}\0${size}\0${digest}\n`)
    this.#files += 1
    this.#bytes += size
  }

  /** Called once, after the last file. */
  end(): BackupEnd {
    return { files: this.#files, bytes: this.#bytes, digest: this.#all.digest("hex") }
  }
}

export const badBackup = (file: string, why: string): EmbeddedPostgresError =>
  new EmbeddedPostgresError({ code: "bad_backup", message: `${file} cannot be restored: ${why}` })

const recordOf = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** @throws EmbeddedPostgresError `bad_backup` */
export const readHead = (file: string, text: string, postgres: number): BackupHead => {
  const head = recordOf(text) as BackupHead | undefined
  if (typeof head?.format !== "number") throw badBackup(file, "it was not created by `cabinet backup`.")
  if (head.format !== FORMAT) {
    throw badBackup(
      file,
      "it was created by a newer version of this program. Restore it with that version or a later one.",
    )
  }
  if (head.postgres !== postgres) {
    throw badBackup(
      file,
      `it holds the files of PostgreSQL ${head.postgres}, and this program ships ${postgres}. Restore it with the version of this program that created it; docs/operations.md says how to move its content then.`,
    )
  }
  if (head.platform !== process.platform || head.arch !== process.arch) {
    throw badBackup(
      file,
      `it was created on ${head.platform} (${head.arch}), and this machine is ${process.platform} (${process.arch}). Restore it on such a machine; docs/operations.md says how to move its content then.`,
    )
  }
  return head
}

/** @throws EmbeddedPostgresError `bad_backup` */
export const checkEnd = (file: string, text: string | undefined, found: BackupEnd): void => {
  if (text === undefined) throw badBackup(file, "it is truncated. Copy it again from where it was created.")
  const end = recordOf(text) as BackupEnd | undefined
  if (end?.files !== found.files || end.bytes !== found.bytes || end.digest !== found.digest) {
    throw badBackup(file, "its content is damaged. Copy it again from where it was created, or use an older one.")
  }
}

/**
 * The path of a file in a backup's cluster, as its segments.
 * @throws EmbeddedPostgresError `bad_backup` for a name that no backup contains, such as one that leads out of the directory
 */
export const clusterPath = (file: string, name: string): ReadonlyArray<string> => {
  const [top, ...parts] = name.replace(/\/$/u, "").split("/")
  const safe = parts.every((part) => /^[A-Za-z0-9_.-]+$/u.test(part) && part !== "." && part !== "..")
  if (top !== CLUSTER_NAME || !safe)
    throw badBackup(file, `it contains ${JSON.stringify(name)}, which does not belong in a backup.`)
  return parts
}
