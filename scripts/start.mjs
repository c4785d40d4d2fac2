/** `npm start`: prepares the clone, then serves. Arguments after `--` go to `cabinet serve`. */
import { join } from "node:path"
import { prepare, root, runAndExit } from "./prepare.mjs"

await prepare({ build: true })
runAndExit([join(root, "packages", "cli", "bin", "cabinet.mjs"), "serve", ...process.argv.slice(2)], { stays: true })
