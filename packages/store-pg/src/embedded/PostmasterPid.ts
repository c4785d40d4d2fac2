/**
 * Reads `postmaster.pid`, which a PostgreSQL server keeps in its data directory while it runs, and checks whether it
 * refers to a live server of that directory. A file left by a crash may name a process that is by now an unrelated one;
 * such a process is never taken for the server, and never signalled.
 */
import { readFileSync, readlinkSync, statSync } from "node:fs"
import { createConnection } from "node:net"
import { join } from "node:path"

export interface PostmasterPid {
  readonly pid: number
  readonly dataDir: string
  readonly port: number
  /** Empty if the server has no unix socket. */
  readonly socketDir: string
  /** Empty if the server listens on no address. */
  readonly host: string
  /** `starting`, `ready`, `stopping` or `standby`. */
  readonly status: string
}

/** Undefined if the file is missing or not complete (yet). */
export const readPostmasterPid = (pgdata: string): PostmasterPid | undefined => {
  let text: string
  try {
    text = readFileSync(join(pgdata, "postmaster.pid"), "utf8")
  } catch {
    return undefined
  }
  const [pid = "", dataDir = "", , port = "", socketDir = "", host = "", , status = ""] = text.split("\n")
  // A standalone backend writes its pid negated; it accepts no connections.
  if (!/^\d+$/u.test(pid.trim()) || !/^\d+$/u.test(port.trim())) return undefined
  return {
    pid: Number(pid),
    dataDir,
    port: Number(port),
    socketDir: socketDir.trim(),
    host: host.trim(),
    status: status.trim(),
  }
}

/** Whether a process exists, including other users' processes. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}

/**
 * Whether the process named in the file is really the server of `pgdata`: it is alive and its working directory is the
 * data directory, which holds for every postmaster. If the system does not expose working directories, a listening socket
 * at the file's address decides.
 */
export const isServerOf = async (pgdata: string, file: PostmasterPid): Promise<boolean> => {
  if (!isAlive(file.pid)) return false
  try {
    const cwd = statSync(readlinkSync(`/proc/${file.pid}/cwd`))
    const dir = statSync(pgdata)
    return cwd.dev === dir.dev && cwd.ino === dir.ino
  } catch {
    return accepts(file)
  }
}

/** Whether a server listens at the address in the file. */
export const accepts = (file: PostmasterPid): Promise<boolean> =>
  new Promise((resolve) => {
    const socket =
      file.socketDir === ""
        ? createConnection({ host: file.host === "" ? "127.0.0.1" : file.host, port: file.port })
        : createConnection(join(file.socketDir, `.s.PGSQL.${file.port}`))
    const end = (isConnected: boolean) => {
      socket.destroy()
      resolve(isConnected)
    }
    socket.setTimeout(2000, () => end(false))
    socket.on("connect", () => end(true))
    socket.on("error", () => end(false))
  })
