/** `npm run bench`: prepares the clone, then measures. Arguments after `--` go to test/bench/main.ts. */
import { join } from "node:path"
import { prepare, root, runAndExit } from "./prepare.mjs"

await prepare({ build: false })
runAndExit(["--conditions=source", join(root, "test", "bench", "main.ts"), ...process.argv.slice(2)])
