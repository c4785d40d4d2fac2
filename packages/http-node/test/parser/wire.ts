/** Shared by the tests of refused requests: a listener, and a sender that speaks HTTP itself. */
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { connect } from "node:net"
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
 * Sends the pieces one by one, each after the server has had time to read the previous one, and closes its side after a
 * null. Returns everything received until the server closed.
 */
export const speak = async (port: number, ...pieces: ReadonlyArray<string | Buffer | null>): Promise<string> => {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true })
  let text = ""
  socket.on("data", (chunk) => (text += chunk.toString()))
  socket.on("error", () => {})
  const closed = once(socket, "end")
  socket.setNoDelay(true)
  await once(socket, "connect")
  for (const piece of pieces) {
    if (piece === null) socket.end()
    else socket.write(piece)
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  }
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
