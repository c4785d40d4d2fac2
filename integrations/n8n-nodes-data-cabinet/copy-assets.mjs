/** Puts the icons and descriptions, which the compiler leaves out, beside the compiled nodes. */
import { cpSync } from "node:fs"

const isAsset = (path) => !/\.ts$/.test(path)
for (const folder of ["nodes", "icons"]) cpSync(folder, `dist/${folder}`, { recursive: true, filter: isAsset })
