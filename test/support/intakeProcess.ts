/** A server of a cabinet's intake in a process of its own: `node intakeProcess.ts DATABASE_URL` prints its port. */
import { intakeCabinet } from "./intakeCabinet.ts"

const cabinet = await intakeCabinet(process.argv[2]!)
process.stdout.write(`${cabinet.port}\n`)
process.once("SIGTERM", () => void cabinet.close().then(() => process.exit(0)))
