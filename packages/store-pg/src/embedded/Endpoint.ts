/**
 * Determines how the embedded server is reached: over a unix socket in a private directory, or, if the system has none
 * that PostgreSQL and Node share (Windows), over TCP on 127.0.0.1 with a password that only this user can read.
 */
import { randomBytes } from "node:crypto"
import { existsSync, lstatSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type AddressInfo } from "node:net"
import { type DataDir, readNote, writeNote } from "./DataDir.ts"
import { makeSocketDir } from "./SocketDir.ts"
import { giveTo, type Launcher } from "./Unprivileged.ts"

export type Transport = "socket" | "tcp"

export interface Endpoint {
  readonly transport: Transport
  /** Directory of the unix socket; empty with TCP. */
  readonly socketDir: string
  readonly port: number
  readonly password: string | undefined
  readonly urlFor: (role: string, database: string) => string
}

/**
 * The endpoint for the next start: the one in the note if it is still usable, otherwise a new one, which is noted.
 * `reportsPort`: see `EmbeddedOptions`. The number of a port is also part of the socket's name.
 */
export const nextEndpoint = async (
  dir: DataDir,
  launcher: Launcher,
  { transport, reportsPort }: { readonly transport: Transport; readonly reportsPort?: number | null | undefined },
): Promise<Endpoint> => {
  const { reportsPort: noted, ...rest } = readNote(dir)
  const wanted = reportsPort === undefined ? noted : (reportsPort ?? undefined)
  const note = wanted === undefined ? rest : { ...rest, reportsPort: wanted }
  if (transport === "tcp") {
    const port = wanted ?? (note.port !== undefined && (await isFree(note.port)) ? note.port : await freePort())
    writeNote(dir, { ...note, port })
    return endpoint("tcp", "", port, password(dir))
  }
  const kept = note.socketDir !== undefined && isOurs(note.socketDir, launcher) ? note.socketDir : undefined
  const socketDir = kept ?? makeSocketDir()
  try {
    giveTo(launcher, socketDir)
    writeNote(dir, { ...note, socketDir })
  } catch (error) {
    if (kept === undefined) rmSync(socketDir, { recursive: true, force: true })
    throw error
  }
  return endpoint("socket", socketDir, wanted ?? socketPort, undefined)
}

/** The endpoint of a running server, from its pid file. */
export const endpointOf = (dir: DataDir, server: { readonly socketDir: string; readonly port: number }): Endpoint =>
  server.socketDir === ""
    ? endpoint("tcp", "", server.port, password(dir))
    : endpoint("socket", server.socketDir, server.port, undefined)

/** Settings that make the server listen there and nowhere else. */
export const listenSettings = (where: Endpoint): Record<string, string> =>
  where.transport === "tcp"
    ? { listen_addresses: "127.0.0.1", port: String(where.port), unix_socket_directories: "" }
    : {
        listen_addresses: "",
        port: String(where.port),
        unix_socket_directories: where.socketDir,
        unix_socket_permissions: "0700",
      }

/** The password of both roles, created once; undefined for a cluster that trusts its private socket. */
export const clusterPassword = (dir: DataDir, transport: Transport): string | undefined => {
  if (transport === "socket") return undefined
  if (!existsSync(dir.passwordFile)) {
    writeFileSync(dir.passwordFile, randomBytes(24).toString("base64url"), { mode: 0o600 })
  }
  return password(dir)
}

/** Removes the socket's directory after the server has stopped. */
export const removeEndpoint = (dir: DataDir): void => {
  const { socketDir, ...note } = readNote(dir)
  if (socketDir !== undefined) rmSync(socketDir, { recursive: true, force: true })
  try {
    writeNote(dir, note)
  } catch {
    // On a full disk the note stays: the next start does not use a directory that is gone.
  }
}

/** The same number for all servers without a port for reports: they differ by their socket's directory. */
const socketPort = 5432

const password = (dir: DataDir): string | undefined =>
  existsSync(dir.passwordFile) ? readFileSync(dir.passwordFile, "utf8").trim() : undefined

const endpoint = (transport: Transport, socketDir: string, port: number, secret: string | undefined): Endpoint => ({
  transport,
  socketDir,
  port,
  password: secret,
  urlFor: (role, database) => {
    const path = `/${encodeURIComponent(database)}`
    if (transport === "socket") {
      return `postgres://${encodeURIComponent(role)}@localhost:${port}${path}?host=${encodeURIComponent(socketDir)}`
    }
    return `postgres://${encodeURIComponent(role)}:${secret ?? ""}@127.0.0.1:${port}${path}`
  },
})

/** A directory in a public place is reused only if it is still the private one that we created. */
const isOurs = (socketDir: string, launcher: Launcher): boolean => {
  try {
    const stat = lstatSync(socketDir)
    const mine = process.getuid?.()
    return stat.isDirectory() && (stat.mode & 0o077) === 0 && (stat.uid === mine || stat.uid === launcher.owner?.uid)
  } catch {
    return false
  }
}

const isFree = (port: number): Promise<boolean> =>
  listen(port).then(
    () => true,
    () => false,
  )

const freePort = (): Promise<number> => listen(0)

const listen = (port: number) =>
  new Promise<number>((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(port, "127.0.0.1", () => {
      const { port: got } = server.address() as AddressInfo
      server.close(() => resolve(got))
    })
  })
