/** How the connections of a database URL are protected, as found by connecting to its server. */
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { isVerified } from "./DatabaseUrlTls.ts"
import { connectionOf } from "./Connection.ts"

export interface ConnectionSecurity {
  /** `socket` is a unix socket of this machine, which nobody else can listen to. */
  readonly transport: "socket" | "tls" | "clear text"
  /** How the server has proved its identity: by name, only by its authority, or not at all. */
  readonly verified: "name" | "authority" | "no"
  /** Whether the server is on this machine, reached by a loopback address. */
  readonly isLoopback: boolean
  /** The server in use. */
  readonly server: string
}

const isLoopback = (host: string): boolean => host === "localhost" || host === "::1" || host.startsWith("127.")

/**
 * Examines the server of a URL before use, in particular whether it is a pooler. If it is unusable, the next connection
 * attempt fails with the reason.
 */
export const probeConnection = (url: string): Effect.Effect<void, SqlError.SqlError> =>
  Effect.flatMap(connectionOf(url), ({ route, settled }) => {
    if (route.probes === 0) route.suspect()
    return settled
  })

export const connectionSecurity = (url: string): Effect.Effect<ConnectionSecurity, SqlError.SqlError> =>
  Effect.gen(function* () {
    const { parsed, route, settled } = yield* connectionOf(url)
    yield* settled
    const { host, port } = route.server
    const { mode } = parsed.encryption
    const isEncrypted = mode !== "disable" && route.encrypts
    return {
      transport: host.startsWith("/") ? "socket" : isEncrypted ? "tls" : "clear text",
      verified: isEncrypted && isVerified(parsed.encryption) ? (mode === "verify-full" ? "name" : "authority") : "no",
      isLoopback: isLoopback(host),
      server: host.startsWith("/") ? host : `${host}:${port}`,
    }
  })
