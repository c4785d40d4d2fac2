/** Where the programs of a PostgreSQL version are: npm's that is shipped, npm's others as `.ci/postgres` fetches them, or Debian's. */
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

/** The directory of the programs; empty for those that are shipped, undefined if the version is not here. */
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
