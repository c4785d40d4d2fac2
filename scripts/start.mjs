/** `npm start`: prepares the clone, then serves. Arguments after `--` go to `cabinet serve`. */
import { join } from "node:path"
import { prepare, root, runAndExit } from "./prepare.mjs"

// npm keeps flags before `--` to itself, as settings of its own.
const kept = ["port", "host", "base_url", "database_url", "data_dir"].find(
  (name) => `npm_config_${name}` in process.env,
)
if (kept !== undefined) {
  const flag = `--${kept.replaceAll("_", "-")}`
  process.stderr.write(`npm has kept ${flag} to itself: write -- before it, as in npm start -- ${flag} VALUE.\n`)
  process.exit(2)
}

await prepare({ build: true })
runAndExit([join(root, "packages", "cli", "bin", "cabinet.mjs"), "serve", ...process.argv.slice(2)], { stays: true })
