/** Shared by the tests of refused requests: a listener, and a sender that speaks HTTP itself. */
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { connect, type Socket } from "node:net"
import { Listener } from "@data-cabinet/http-node/server/Listener"
import { ManagedRuntime } from "effect"

/** A listener with this handler, while `use` runs. */
export const listening = async <A>(
  handler: (request: IncomingMessage, response: ServerResponse) => void,
  use: (port: number) => Promise<A>,
): Promise<A> => {
  const runtime = ManagedRuntime.make(Listener.layer(handler, { host: "127.0.0.1", port: 0, drainMillis: 0 }))
  const { port } = await runtime.runPromise(Listener)
  try {
    return await use(port)
  } finally {
    await runtime.dispose()
  }
}

/**
 * Sends the pieces one by one, each after the server has read the previous one or closed, and closes its side after a null.
 * Returns everything received until the server closed.
 */
export const speak = async (port: number, ...pieces: ReadonlyArray<string | Buffer | null>): Promise<string> => {
  const accepted = new Map<number | undefined, Socket>()
  const accept = (message: unknown) => {
    const { socket: server } = message as { readonly socket: Socket }
    accepted.set(server.remotePort, server)
  }
  subscribe("net.server.socket", accept)
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true })
  let text = ""
  let isOver = false
  socket.on("data", (chunk) => (text += chunk.toString()))
  socket.on("error", () => {})
  socket.once("end", () => (isOver = true))
  const closed = once(socket, "end")
  socket.setNoDelay(true)
  await once(socket, "connect")
  const hasRead = (bytes: number) => {
    const server = accepted.get(socket.localPort)
    return isOver || (server !== undefined && (server.destroyed || server.bytesRead >= bytes))
  }
  let sent = 0
  for (const piece of pieces) {
    if (piece === null) socket.end()
    else socket.write(piece)
    sent += Buffer.byteLength(piece ?? "")
    while (!hasRead(sent)) await new Promise(setImmediate)
    // What was read is handled in a few turns.
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  }
  unsubscribe("net.server.socket", accept)
  await closed
  socket.destroy()
  return text
}

/** The responses in the received text: status, headers and body of each. */
export const responsesIn = (text: string) => {
  const answers: Array<{ status: number; headers: Headers; body: string }> = []
  for (let rest = text; rest !== "";) {
    const end = rest.indexOf("\r\n\r\n")
    const [line, ...lines] = rest.slice(0, end).split("\r\n")
    const headers = new Headers(lines.map((one) => one.split(/: ?(.*)/s).slice(0, 2) as [string, string]))
    const size = Number(headers.get("content-length") ?? 0)
    const body = Buffer.from(rest.slice(end + 4)).toString("latin1", 0, size)
    answers.push({ status: Number(line!.split(" ")[1]), headers, body: Buffer.from(body, "latin1").toString() })
    rest = rest.slice(end + 4 + Buffer.from(body, "latin1").toString().length)
  }
  return answers
}
