/**
 * Lists the files of a running cluster that belong in a backup: all but those that matter only to the running server and
 * that PostgreSQL recreates, the same ones that its own base backups leave out. The log is not in the list; see
 * BackupSession.
 */
import { lstat, readdir } from "node:fs/promises"
import { join } from "node:path"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"

export interface ClusterFile {
  /** Relative to the cluster's directory, with `/`. */
  readonly path: string
  readonly kind: "file" | "directory"
  readonly size: number
}

const LEFT_OUT = new Set([
  "postmaster.pid",
  "postmaster.opts",
  "backup_label",
  "backup_manifest",
  "tablespace_map",
  "current_logfiles",
  "pg_internal.init",
])

/** Included as empty directories. */
const EMPTY = new Set([
  "pg_dynshmem",
  "pg_notify",
  "pg_replslot",
  "pg_serial",
  "pg_snapshots",
  "pg_stat_tmp",
  "pg_subtrans",
  "pg_wal",
])

export const CONTROL_FILE = "global/pg_control"

/**
 * Directories precede their contents. The control file is not in the list, because it must be read last. Files removed
 * during the listing are left out.
 */
export const clusterFiles = async (pgdata: string): Promise<ReadonlyArray<ClusterFile>> => {
  const found: Array<ClusterFile> = []
  const walk = async (below: string): Promise<void> => {
    const entries = await undefinedIfMissing(readdir(join(pgdata, below), { withFileTypes: true }))
    for (const entry of entries ?? []) {
      const path = below === "" ? entry.name : `${below}/${entry.name}`
      if (LEFT_OUT.has(entry.name) || entry.name.startsWith("pgsql_tmp") || path === CONTROL_FILE) continue
      if (below === "pg_tblspc") throw tablespace(pgdata)
      const isEmpty = below === "" && EMPTY.has(entry.name)
      if (entry.isDirectory() || isEmpty) {
        found.push({ path, kind: "directory", size: 0 })
        if (!isEmpty) await walk(path)
      } else if (entry.isFile()) {
        const stat = await undefinedIfMissing(lstat(join(pgdata, path)))
        if (stat !== undefined) found.push({ path, kind: "file", size: stat.size })
      }
    }
  }
  await walk("")
  return found
}

/** Undefined for a file that no longer exists. */
export const undefinedIfMissing = async <A>(work: Promise<A>): Promise<A | undefined> => {
  try {
    return await work
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
}

const tablespace = (pgdata: string) =>
  new EmbeddedPostgresError({
    code: "backup_refused",
    message: `The database in ${pgdata} has tablespaces outside its directory, which a backup cannot hold. Back it up with pg_basebackup.`,
  })
