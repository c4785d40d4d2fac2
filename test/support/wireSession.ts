/** A session that sends and receives each message explicitly, so that a test can stop between any two messages. */
import { once } from "node:events"
import { createConnection } from "node:net"
import * as PgProtocol from "@effect/sql-pg/PgProtocol"
import { Result } from "effect"
import type { TestDatabase } from "./postgres.ts"

export type Message = PgProtocol.BackendMessage

export interface WireSession {
  readonly send: (...frames: ReadonlyArray<Uint8Array>) => void
  /** Resolves with all messages up to the first one with this tag. */
  readonly until: (tag: Message["_tag"]) => Promise<ReadonlyArray<Message>>
  readonly end: () => void
}

/** Logs in as the role; the suite's sockets trust every login. */
export const wireSession = async (
  database: TestDatabase,
  user: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<WireSession> => {
  const socket = createConnection(`${database.socketDir}/.s.PGSQL.5432`)
  socket.on("error", () => undefined)
  const parser = PgProtocol.makeParser()
  const received: Array<Message> = []
  socket.on("data", (chunk) => received.push(...parser.push(chunk)))
  const until: WireSession["until"] = async (tag) => {
    for (;;) {
      const last = received.findIndex((message) => message._tag === tag)
      if (last >= 0) return received.splice(0, last + 1)
      await once(socket, "data")
    }
  }
  socket.write(PgProtocol.encodeStartupMessage({ ...settings, user, database: database.name }))
  await until("ReadyForQuery")
  return { send: (...frames) => void socket.write(Buffer.concat(frames)), until, end: () => socket.destroy() }
}

/** A Parse message for a named statement. */
export const parse = (name: string, query: string): Uint8Array =>
  Result.getOrThrow(PgProtocol.encodeParse({ name, query, parameterTypes: [] }))

const bind = PgProtocol.makeBindEncoder<string>(
  (sink, value) => {
    sink.utf8(value)
    return Result.succeed(undefined)
  },
  () => true,
)

/** Bind and Execute messages for a statement, with text parameters and binary results. */
export const execute = (statement: string, ...parameters: ReadonlyArray<string>): Uint8Array =>
  Buffer.concat([
    Result.getOrThrow(bind({ portal: "", statement, parameters })),
    PgProtocol.encodeExecute({ portal: "", maxRows: 0 }),
  ])
