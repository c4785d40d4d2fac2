/**
 * `npm run dev`: serves from the sources and starts again when one changes. The data stay in `.cabinet/` or DATABASE_URL. Nothing
 * is built but what is embedded as text. Arguments after `--` go to `cabinet serve`.
 */
import { join } from "node:path"
import { prepare, root, runAndExit } from "./prepare.mjs"

await prepare({ build: false })
const entry = join(root, "packages", "cli", "src", "bin.ts")
// As Ctrl-C ends it: a server that is ended by SIGTERM waits until a load balancer has noticed.
const watch = ["--watch", "--watch-preserve-output", "--watch-kill-signal=SIGINT"]
runAndExit([...watch, "--conditions=source", entry, "serve", ...process.argv.slice(2)], { stays: true })
