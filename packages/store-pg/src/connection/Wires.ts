/**
 * The connections of one pool that are also read without the driver, each found by the process id that its server sent
 * both to the driver and to us.
 */
import type { Duplex } from "node:stream"
import { type PgConnection, PgProtocol } from "@effect/sql-pg"
import { FrameReader } from "./FrameReader.ts"
import { PreparedStatements } from "./PreparedStatements.ts"
import type { SessionGroup } from "./SessionGroup.ts"
import { type Encryption, Wire } from "./Wire.ts"

/** How long a request to cancel may take, in milliseconds. */
const CANCEL_MILLIS = 5_000

/** A session's connection, and its state between two reads. */
export interface WireSession {
  readonly wire: Wire
  readonly prepared: PreparedStatements
  readonly frames: FrameReader
  /** Cancels the session's statement by a separate connection; never fails. */
  cancel: () => void
}

export class Wires {
  readonly #open: () => Duplex
  readonly #openDirectly: () => Duplex
  /** Logged in, but not yet found by `of`. */
  readonly #keyed = new Map<number, Wire>()
  readonly #sessions = new WeakMap<PgConnection.PgConnection, WireSession>()
  #encryption: () => Encryption = () => undefined

  /** Opens connections for sessions, and for cancel requests. */
  constructor({ stream, direct }: Pick<SessionGroup, "stream" | "direct">) {
    this.#open = stream
    this.#openDirectly = direct
  }

  /** Opens the driver's connections. They are encrypted before the driver sees them, by the setting at that moment. */
  stream(encryption: () => Encryption): () => Duplex {
    this.#encryption = encryption
    return () => this.#wire()
  }

  /** The connection of a driver's session; undefined if its server did not identify itself. */
  of(connection: PgConnection.PgConnection): WireSession | undefined {
    const known = this.#sessions.get(connection)
    if (known !== undefined) return known
    const wire = this.#keyed.get(connection.processId)
    if (wire === undefined) return undefined
    this.#keyed.delete(connection.processId)
    const session: WireSession = {
      wire,
      prepared: new PreparedStatements(),
      frames: new FrameReader(),
      cancel: () => this.#cancel(wire),
    }
    this.#sessions.set(connection, session)
    return session
  }

  #wire(): Wire {
    return new Wire(this.#open(), this.#encryption(), (wire) => {
      const pid = wire.key!.pid
      const other = this.#keyed.get(pid)
      if (other !== undefined) {
        // Only a proxy in front of two servers can cause this; the two sessions cannot be distinguished.
        for (const one of [other, wire]) one.destroy(new Error("Two sessions have the same process id"))
        return
      }
      this.#keyed.set(pid, wire)
      wire.once("close", () => {
        if (this.#keyed.get(pid) === wire) this.#keyed.delete(pid)
      })
    })
  }

  #cancel({ key }: Wire): void {
    if (key === undefined) return
    const side = new Wire(this.#openDirectly(), this.#encryption(), () => undefined)
    const timer = setTimeout(() => side.destroy(), CANCEL_MILLIS)
    side.on("error", () => undefined).once("close", () => clearTimeout(timer))
    // The server closes the connection once it has passed the request on.
    side.once("end", () => side.destroy()).resume()
    side.write(PgProtocol.encodeCancelRequest(key))
  }
}
