/**
 * Backs up the embedded PostgreSQL with all its cabinets into one file while it keeps serving: every event acknowledged
 * before the backup began is in it. It works on a running server; if none runs, it starts one for the duration. Refuses
 * to overwrite a file.
 *
 * Decision: docs/decisions/0016-backups-are-physical.md
 */
import { existsSync } from "node:fs"
import { open, readdir, readFile, stat } from "node:fs/promises"
import { dirname, join as joinPath, resolve } from "node:path"
import { Effect } from "effect"
import { type BackupArchive, createArchive } from "./BackupArchive.ts"
import { type BackupEnd, CLUSTER_NAME, headOf, PASSWORD_NAME } from "./BackupFormat.ts"
import { backupSession, type BackupStart, type BackupStop } from "./BackupSession.ts"
import { clusterVersion } from "./Cluster.ts"
import { clusterFiles, CONTROL_FILE, undefinedIfMissing } from "./ClusterFiles.ts"
import { type DataDir, dataDirAt } from "./DataDir.ts"
import * as EmbeddedPostgres from "./EmbeddedPostgres.ts"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"

export interface BackupOptions {
  readonly dataDir: string
  /** Gzipped unless its name ends in `.tar`. */
  readonly file: string
  /** The directory of the programs of the machine's own PostgreSQL; default: the shipped one. */
  readonly bin?: string | undefined
  /** Called as bytes of the database are written; `total` may still grow. */
  readonly tell?: (progress: { readonly done: number; readonly total: number }) => void
}

export interface BackupReport extends BackupEnd {
  readonly file: string
  readonly archiveBytes: number
  readonly madeAt: string
  readonly postgres: number
}

const refused = (message: string) => new EmbeddedPostgresError({ code: "backup_refused", message })

/** Describes disk errors as messages; those of the database already are messages. */
const attempting = <A>(file: string, run: () => Promise<A>): Effect.Effect<A, EmbeddedPostgresError> =>
  Effect.tryPromise({
    try: run,
    catch: (error) => {
      if (error instanceof EmbeddedPostgresError) return error
      const message = `The backup ${file} cannot be written: ${(error as Error).message}. The incomplete file was removed.`
      return new EmbeddedPostgresError({ code: "backup_failed", message })
    },
  })

export const backup = (options: BackupOptions): Effect.Effect<BackupReport, EmbeddedPostgresError> =>
  Effect.gen(function* () {
    const dir = dataDirAt(options.dataDir)
    const file = resolve(options.file)
    if (!EmbeddedPostgres.exists(dir.root)) {
      return yield* refused(`There is no database in ${dir.root} to back up. Name its directory with --data-dir.`)
    }
    if (existsSync(file)) {
      return yield* refused(`${file} exists already, and a backup does not overwrite files. Choose another name.`)
    }
    if (!existsSync(dirname(file))) return yield* refused(`The directory ${dirname(file)} does not exist.`)
    const { superuserUrl } = yield* EmbeddedPostgres.join({ dataDir: dir.root, bin: options.bin })
    const postgres = clusterVersion(dir.pgdata)!
    const progress = { done: 0, total: 0 }
    const wrote = (bytes: number) => {
      progress.done += bytes
      options.tell?.(progress)
    }
    return yield* Effect.acquireUseRelease(
      attempting(file, () => createArchive({ file, wrote })),
      (archive) =>
        backupSession(
          superuserUrl,
          (start) =>
            attempting(file, () => copyCluster(archive, dir, postgres, start, progress)).pipe(Effect.as(start.madeAt)),
          (stop, madeAt) =>
            attempting(file, async () => {
              await copyLog(archive, dir, stop, progress)
              return { ...(await archive.finish()), file, madeAt, postgres }
            }),
        ),
      (archive) => Effect.promise(() => archive.discard()),
    )
  }).pipe(Effect.scoped)

type Progress = { total: number }

const copyCluster = async (
  archive: BackupArchive,
  dir: DataDir,
  postgres: number,
  { madeAt }: BackupStart,
  progress: Progress,
): Promise<void> => {
  await archive.head(headOf(postgres, madeAt))
  if (existsSync(dir.passwordFile)) await archive.text(PASSWORD_NAME, await readFile(dir.passwordFile))
  const files = await clusterFiles(dir.pgdata)
  progress.total += files.reduce((sum, { size }) => sum + size, 0)
  archive.directory(CLUSTER_NAME)
  for (const { path, kind } of files) {
    const name = `${CLUSTER_NAME}/${path}`
    if (kind === "directory") archive.directory(name)
    else await copyFile(archive, name, joinPath(dir.pgdata, path))
  }
  await archive.text(`${CLUSTER_NAME}/${CONTROL_FILE}`, await wholeControlFile(joinPath(dir.pgdata, CONTROL_FILE)))
}

const copyFile = async (archive: BackupArchive, name: string, path: string): Promise<void> => {
  const source = await undefinedIfMissing(open(path, "r"))
  if (source === undefined) return
  try {
    await archive.addFile(name, source)
  } finally {
    await source.close()
  }
}

/**
 * The control file is the one file that the log cannot repair, and it may be written while it is read: it is read until
 * two consecutive reads agree.
 */
const wholeControlFile = async (path: string): Promise<Buffer> => {
  let last = await readFile(path)
  for (;;) {
    const next = await readFile(path)
    if (next.equals(last)) return next
    last = next
  }
}

const copyLog = async (archive: BackupArchive, dir: DataDir, stop: BackupStop, progress: Progress): Promise<void> => {
  const { label, firstLog, lastLog } = stop
  const isNeeded = (name: string) =>
    /^[0-9A-F]{8}\.history$/u.test(name) || (/^[0-9A-F]{24}$/u.test(name) && name >= firstLog && name <= lastLog)
  const folder = joinPath(dir.pgdata, "pg_wal")
  const names = (await readdir(folder)).filter(isNeeded).sort()
  for (const end of [firstLog, lastLog]) {
    if (!names.includes(end))
      throw refused(`The database has already removed ${end} of its write-ahead log. Try the backup again.`)
  }
  for (const name of names) progress.total += (await stat(joinPath(folder, name))).size
  await archive.text(`${CLUSTER_NAME}/backup_label`, label)
  for (const name of names) await copyFile(archive, `${CLUSTER_NAME}/pg_wal/${name}`, joinPath(folder, name))
}
