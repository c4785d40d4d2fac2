/**
 * `intakeProgram.ts databaseUrl options`: serves a cabinet's intake. It reports its port once it listens, and its memory on
 * request.
 */
import { type IntakeOptions, intakeCabinet } from "./intakeCabinet.ts"

const [url, options] = process.argv.slice(2)
const cabinet = await intakeCabinet(url!, JSON.parse(options!) as IntakeOptions)
process.on("message", () => {
  ;(globalThis as { readonly gc?: () => void }).gc?.()
  process.send?.(process.memoryUsage().rss)
})
process.once("SIGTERM", () => void cabinet.close().then(() => process.exit(0)))
process.send?.(cabinet.port)
