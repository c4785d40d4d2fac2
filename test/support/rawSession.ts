/** A session that sends PostgreSQL's messages one by one, so that a test can omit one that every driver sends. */
import { once } from "node:events"
import { createConnection, type Socket } from "node:net"
import type { TestDatabase } from "./postgres.ts"
import { ownerRole } from "./postgresAdmin.ts"

const int32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
const message = (type: string, ...parts: ReadonlyArray<Buffer>) => {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body])
}
const text = (value: string) => Buffer.from(`${value}\0`)
const NONE = Buffer.alloc(2)

export interface RawSession {
  readonly pid: number
  /** Sends Parse, Bind and Execute of a statement without parameters, but no Sync; resolves once it has run. */
  readonly executeWithoutSync: (statement: string) => Promise<void>
  /** Resolves when the server has ended the session. */
  readonly closed: Promise<unknown>
  readonly end: () => void
}

/** Logs in as the owner; the suite's sockets trust every login. */
export const rawSession = async (database: Pick<TestDatabase, "name" | "socketDir">): Promise<RawSession> => {
  const socket: Socket = createConnection(`${database.socketDir}/.s.PGSQL.5432`)
  socket.on("error", () => undefined)
  let received = Buffer.alloc(0)
  socket.on("data", (chunk) => (received = Buffer.concat([received, chunk])))
  /** Waits for a message of this type and returns its body. */
  const until = async (type: string): Promise<Buffer> => {
    for (;;) {
      while (received.length >= 5 && received.length > received.readInt32BE(1)) {
        const end = received.readInt32BE(1) + 1
        const [name, body] = [received.toString("latin1", 0, 1), received.subarray(5, end)]
        received = received.subarray(end)
        if (name === "E") throw new Error(body.toString("latin1"))
        if (name === type) return body
      }
      await once(socket, "data")
    }
  }
  const closed = once(socket, "close")
  const startup = Buffer.concat([
    int32(196_608),
    ...["user", ownerRole, "database", database.name, "application_name", "a lost server"].map(text),
    Buffer.alloc(1),
  ])
  socket.write(Buffer.concat([int32(startup.length + 4), startup]))
  const pid = (await until("K")).readInt32BE(0)
  await until("Z")
  return {
    pid,
    closed,
    end: () => socket.destroy(),
    executeWithoutSync: async (statement) => {
      socket.write(
        Buffer.concat([
          message("P", text(""), text(statement), NONE),
          message("B", text(""), text(""), NONE, NONE, NONE),
          message("E", text(""), int32(0)),
          // Flush makes the server send its responses without ending the transaction, as Sync would.
          message("H"),
        ]),
      )
      await until("C")
    },
  }
}
