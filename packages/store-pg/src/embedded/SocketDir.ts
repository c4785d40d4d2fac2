/**
 * The directory of the server's unix socket: one of our own with mode 0700, so that only this user reaches the database
 * and no password is needed. The system limits a socket's whole path to 107 bytes, and a data directory may lie deeper
 * than that, so the directory is a short one below the system's own temporary directory.
 */
import { chmodSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"
import { makeDirectories } from "./MakeDirectories.ts"

/** With the longest port. */
const socketName = ".s.PGSQL.65535"
const longest = process.platform === "darwin" ? 103 : 107

/** Whether the path of a socket in this directory is short enough for the system. */
export const fits = (dir: string): boolean => Buffer.byteLength(join(dir, socketName)) <= longest

/**
 * Creates a private directory in the first of the given places that is short enough and writable.
 *
 * @throws EmbeddedPostgresError `bad_data_dir`
 */
export const makeSocketDir = (places: ReadonlyArray<string> = [tmpdir(), "/tmp", "/var/tmp"]): string => {
  for (const place of places) {
    if (!fits(join(place, "cabinet-XXXXXX"))) continue
    try {
      makeDirectories(place)
      const dir = mkdtempSync(join(place, "cabinet-"))
      chmodSync(dir, 0o700)
      return dir
    } catch {
      continue
    }
  }
  throw new EmbeddedPostgresError({
    code: "bad_data_dir",
    message: `The database's socket needs a short directory, and none can be created in ${places.join(", ")}. Set TMPDIR to a short, writable directory.`,
  })
}
