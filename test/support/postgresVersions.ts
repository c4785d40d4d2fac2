/** Finds the programs of a PostgreSQL version: the shipped one, others that `.ci/postgres` fetches from npm, or Debian's. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { linkLibraries, platformPackage } from "@data-cabinet/store-pg/embedded/Binaries"

const SHIPPED = 18

const fetched = (version: number) =>
  fileURLToPath(
    new URL(
      `../../node_modules/.data-cabinet/postgres-${version}/node_modules/${platformPackage(process.platform, process.arch)}`,
      import.meta.url,
    ),
  )

/** The directory of the programs; empty for the shipped version, undefined if the version is not installed. */
export const postgresBin = (version: number): string | undefined => {
  if (version === SHIPPED) return ""
  const root = fetched(version)
  if (!existsSync(root)) {
    const installed = `/usr/lib/postgresql/${version}/bin`
    return existsSync(join(installed, "postgres")) ? installed : undefined
  }
  linkLibraries(root, join(root, "native", "pg-symlinks.json"), join(root, "links"))
  return join(root, "native", "bin")
}
