/** The folders that building and packing read and write. */
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
export const packages = join(root, "packages")
/** The compiled modules of the package `data-cabinet`, and its command in one file. */
export const compiled = join(packages, "cli", "dist")
/** The package as it is published. */
export const published = join(root, "dist", "data-cabinet")
