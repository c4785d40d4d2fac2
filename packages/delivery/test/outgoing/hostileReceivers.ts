/** Receivers on the loopback that do everything a receiver should not. All of them end with `close`. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer as createPlain, type Server, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createServer as createTls } from "node:tls"
import { createSocket } from "node:dgram"

export interface Receiver {
  readonly port: number
  /** Connections that were made to it so far. */
  readonly connections: () => number
  /** Bytes that the other side took of what was sent. */
  readonly sent: () => number
  readonly close: () => Promise<void>
}

type Behave = (socket: Socket) => void

const listening = async (server: Server, behave: Behave): Promise<Receiver> => {
  const sockets = new Set<Socket>()
  let connections = 0
  let sent = 0
  const meet = (socket: Socket) => {
    connections++
    sockets.add(socket)
    socket.on("error", () => {})
    socket.on("close", () => {
      sent += socket.bytesWritten
      sockets.delete(socket)
    })
    behave(socket)
  }
  server.on("connection", (socket: Socket) => {
    socket.on("error", () => {})
  })
  server.on(server.constructor === createPlain().constructor ? "connection" : "secureConnection", meet)
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  const { port } = server.address() as { readonly port: number }
  return {
    port,
    connections: () => connections,
    sent: () => sent + [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, 0),
    close: () =>
      new Promise((done) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => done())
      }),
  }
}

export const rawReceiver = (behave: Behave): Promise<Receiver> => listening(createPlain(), behave)

/** Waits for the whole head of a request, then does `then` with the socket. */
export const onRequest =
  (then: (socket: Socket, head: string) => void): Behave =>
  (socket) => {
    let text = ""
    const read = (chunk: Buffer) => {
      text += chunk.toString("latin1")
      if (!text.includes("\r\n\r\n")) return
      socket.off("data", read)
      socket.resume()
      then(socket, text)
    }
    socket.on("data", read)
  }

/** Answers every request on a connection with the same text, and keeps the connection. */
export const answering =
  (answer: string | Buffer): Behave =>
  (socket) => {
    let text = ""
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1")
      for (let end = text.indexOf("\r\n\r\n"); end !== -1; end = text.indexOf("\r\n\r\n")) {
        const length = Number(/content-length: (\d+)/i.exec(text.slice(0, end))?.[1] ?? 0)
        if (text.length < end + 4 + length) return
        text = text.slice(end + 4 + length)
        socket.write(answer)
      }
    })
  }

export const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

/** A certificate authority of the test's own, a certificate for `good.test`, and a self-signed one. */
export const makeCertificates = () => {
  const dir = mkdtempSync(join(tmpdir(), "dc-tls-"))
  const openssl = (...words: ReadonlyArray<string>) => execFileSync("openssl", words, { cwd: dir, stdio: "pipe" })
  const key = (name: string) =>
    openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", `${name}.key`)
  key("ca")
  openssl(
    "req",
    "-x509",
    "-key",
    "ca.key",
    "-subj",
    "/CN=test authority",
    "-days",
    "2",
    "-out",
    "ca.pem",
    "-addext",
    "basicConstraints=critical,CA:TRUE",
  )
  key("good")
  openssl(
    "req",
    "-new",
    "-key",
    "good.key",
    "-subj",
    "/CN=good.test",
    "-out",
    "good.csr",
    "-addext",
    "subjectAltName=DNS:good.test",
  )
  openssl(
    "x509",
    "-req",
    "-in",
    "good.csr",
    "-CA",
    "ca.pem",
    "-CAkey",
    "ca.key",
    "-CAcreateserial",
    "-copy_extensions",
    "copy",
    "-days",
    "2",
    "-out",
    "good.pem",
  )
  openssl(
    "req",
    "-x509",
    "-key",
    "good.key",
    "-subj",
    "/CN=good.test",
    "-days",
    "2",
    "-out",
    "self.pem",
    "-addext",
    "subjectAltName=DNS:good.test",
  )
  const read = (name: string) => readFileSync(join(dir, name), "utf8")
  const made = { ca: read("ca.pem"), key: read("good.key"), cert: read("good.pem"), selfSigned: read("self.pem") }
  rmSync(dir, { recursive: true })
  return made
}

export const tlsReceiver = (
  options: { readonly key: string; readonly cert: string },
  behave: Behave,
): Promise<Receiver> => listening(createTls(options) as Server, behave)

/** A name server on the loopback: answers A queries by name, leaves the others empty; silent names get no answer. */
export const nameServer = async (names: Record<string, () => ReadonlyArray<string> | "silent">) => {
  const socket = createSocket("udp4")
  let queries = 0
  socket.on("message", (query, from) => {
    queries++
    const labels: Array<string> = []
    let at = 12
    for (let length = query[at]!; length > 0; length = query[at]!) {
      labels.push(query.toString("latin1", at + 1, at + 1 + length))
      at += 1 + length
    }
    const type = query.readUInt16BE(at + 1)
    const found = names[labels.join(".").toLowerCase()]?.()
    if (found === "silent") return
    const addresses = type === 1 ? (found ?? []) : []
    const header = Buffer.from(query.subarray(0, 12))
    header.writeUInt16BE(found === undefined ? 0x8183 : 0x8180, 2)
    header.writeUInt16BE(addresses.length, 6)
    header.writeUInt16BE(0, 8)
    header.writeUInt16BE(0, 10)
    const answers = addresses.map((address) =>
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split(".").map(Number)]),
    )
    socket.send(Buffer.concat([header, query.subarray(12, at + 5), ...answers]), from.port, from.address)
  })
  await new Promise<void>((done) => socket.bind(0, "127.0.0.1", done))
  return {
    server: `127.0.0.1:${socket.address().port}`,
    queries: () => queries,
    close: () => new Promise<void>((done) => socket.close(() => done())),
  }
}
