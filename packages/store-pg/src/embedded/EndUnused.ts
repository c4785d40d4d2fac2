/**
 * A standalone program: stops the server of a data directory once no process uses it, including when its users were
 * killed or exited without closing. It holds nothing open meanwhile: each user of the directory holds its lock, which
 * ends with the process however that ends. A new user within the linger time finds the server unchanged. Usage: `node
 * EndUnused.js DIR PID LINGER_MILLIS`
 */
import { setTimeout as sleep } from "node:timers/promises"
import { dataDirAt } from "./DataDir.ts"
import { tryLock } from "./DataDirLock.ts"
import { removeEndpoint } from "./Endpoint.ts"
import { stopPostmaster } from "./Postmaster.ts"
import { isServerOf, readPostmasterPid } from "./PostmasterPid.ts"

const CHECK_MILLIS = 250

const endUnused = async (path: string, pid: number, lingerMillis: number): Promise<void> => {
  const dir = dataDirAt(path)
  let unusedSince: number | undefined
  for (;;) {
    const server = readPostmasterPid(dir.pgdata)
    // A server started later has its own watchdog.
    if (server?.pid !== pid || !(await isServerOf(dir.pgdata, server))) return
    const lock = tryLock(dir.usersLock, "alone")
    if (lock === undefined) unusedSince = undefined
    else {
      try {
        unusedSince ??= performance.now()
        if (performance.now() - unusedSince >= lingerMillis) {
          await stopPostmaster(dir.pgdata, server)
          return removeEndpoint(dir)
        }
      } finally {
        lock.release()
      }
    }
    await sleep(CHECK_MILLIS)
  }
}

// Only the last arguments: this file comes before them, unless Node was given its text.
const [path, pid, lingerMillis] = process.argv.slice(-3)
void endUnused(path!, Number(pid), Number(lingerMillis))
