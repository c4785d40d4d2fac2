/** Receivers on the loopback that do everything that a receiver should not. All end with `close`. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer as createPlain, type Server, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createServer as createTls } from "node:tls"
import { createSocket } from "node:dgram"

export interface Receiver {
  readonly port: number
  /** The number of connections so far. */
  readonly connections: () => number
  /** The bytes that the other side has accepted. */
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

/** Waits for the whole head of a request, then calls `then` with the socket. */
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

/** Responds to every request on a connection with the same text, and keeps the connection open. */
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

const drip =
  (text: string): Behave =>
  (socket) => {
    socket.write(text)
    const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write("z")), 50)
  }

const storm: Behave = (socket) => {
  const timer = setInterval(() => {
    if (socket.destroyed) clearInterval(timer)
    else socket.write("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(10))
  }, 5)
}

/** A body of a gigabyte, sent as fast as it is read. */
export const flood: Behave = onRequest((socket) => {
  socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
  const piece = Buffer.alloc(65_536, "x")
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
    socket.once("drain", more)
  }
  more()
})

const saying = (text: string): Behave => onRequest((socket) => void socket.end(text))

/** Blank lines, sent as fast as they are read. */
const lines: Behave = (socket) => {
  const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write("\r\n".repeat(30_000))), 50)
}

const LIST = "Content-Length: 2\r\n\r\n[]"
const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

/** 2xx responses with an empty list that break HTTP's rules, but have only one possible meaning. */
export const LOOSE: ReadonlyArray<readonly [name: string, text: string | Buffer]> = [
  ["100 Continue before the response", `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n${LIST}`],
  [
    "102 and 103 before the response",
    `HTTP/1.1 102 \r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n${LIST}`,
  ],
  [
    "101 before the response",
    `HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\nHTTP/1.1 200 OK\r\n${LIST}`,
  ],
  ["an offer to upgrade", `HTTP/1.1 200 OK\r\nConnection: Upgrade\r\nUpgrade: h2,h2c\r\n${LIST}`],
  ["lines that end in LF alone", "HTTP/1.1 200 OK\nContent-Length: 2\n\n[]"],
  ["lines of both ends", "HTTP/1.1 200 OK\nX: 1\r\nContent-Length: 2\n\r\n[]"],
  ["one length said twice", `HTTP/1.1 200 OK\r\nContent-Length: 2\r\n${LIST}`],
  ["one length said twice in a field", "HTTP/1.1 200 OK\r\nContent-Length: 2, 02\r\n\r\n[]"],
  ["a space in a header's name", `HTTP/1.1 200 OK\r\nX Powered By: x\r\n${LIST}`],
  ["a space behind a header's name", "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\n[]"],
  ["a header without a colon", `HTTP/1.1 200 OK\r\nnonsense\r\n${LIST}`],
  ["a header without a name", `HTTP/1.1 200 OK\r\n: x\r\n${LIST}`],
  ["a folded header", `HTTP/1.1 200 OK\r\nX: a\r\n  b\r\n${LIST}`],
  ["a first header that is folded", `HTTP/1.1 200 OK\r\n  X: a\r\n${LIST}`],
  ["a zero byte in a header", `HTTP/1.1 200 OK\r\nX: a\0b\r\n${LIST}`],
  ["a lone CR in a header", `HTTP/1.1 200 OK\r\nX: a\rb\r\n${LIST}`],
  ["letters outside ASCII in headers and reason", Buffer.from(`HTTP/1.1 200 Принято\r\nX: Ж à\r\n${LIST}`)],
  ["no reason", `HTTP/1.1 200\r\n${LIST}`],
  ["no reason behind a space", `HTTP/1.1 200 \r\n${LIST}`],
  ["two spaces before the status", `HTTP/1.1  200 OK\r\n${LIST}`],
  ["blank lines before the response", `\r\n\n\r\nHTTP/1.1 200 OK\r\n${LIST}`],
  ["another version", `HTTP/1.2 200 OK\r\n${LIST}`],
  ["the version of a later protocol", `HTTP/2 200 OK\r\n${LIST}`],
  ["a name of the protocol in lower case", `http/1.1 200 OK\r\n${LIST}`],
  ["chunks with extensions and trailers", `${CHUNKED}2;a=b;c="d"\r\n[]\r\n0;x\r\nX-T: 1\r\n\r\n`],
]

/** The same from receivers that close the connection. */
export const LOOSE_ENDS: ReadonlyArray<readonly [name: string, text: string]> = [
  ["HTTP/1.0 without a length", "HTTP/1.0 200 OK\r\n\r\n[]"],
  ["HTTP/1.1 without a length", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n[]"],
  ["garbage behind the body", `HTTP/1.1 200 OK\r\n${LIST}\0\0HTTP/1.1 500 No\r\n\r\n`],
]

export interface Misbehaviour {
  readonly name: string
  readonly behave: Behave
  /** What an attempt reports; null if the status arrived, which is a 2xx, so that it counts as delivered. */
  readonly says: string | null
  /** By HTTP's own rules the response is complete, and the bytes after it belong to nothing. */
  readonly whole?: true
  /** Only a time limit ends it. */
  readonly hangs?: true
}

const none = (name: string, says: string, behave: Behave): Misbehaviour => ({ name, behave, says })
const taken = (name: string, behave: Behave): Misbehaviour => ({ name, behave, says: null })
const hanging = (misbehaviour: Misbehaviour): Misbehaviour => ({ ...misbehaviour, hangs: true })

/**
 * Everything that a receiver can do wrong once a socket is open. Every outgoing request is tested against all of it.
 */
export const MISBEHAVIOURS: ReadonlyArray<Misbehaviour> = [
  none("a reset", "reset", (socket) => void socket.once("data", () => socket.resetAndDestroy())),
  none("a reset in the middle of the status", "reset", (socket) => {
    socket.once("data", () => socket.write("HTTP/1.1 2", () => socket.resetAndDestroy()))
  }),
  none(
    "a closed connection",
    "closed before a response arrived",
    onRequest((socket) => void socket.end()),
  ),
  hanging(none("silence", "no response within", () => {})),
  hanging(none("one byte of the status line a moment", "no response within", onRequest(drip("HTTP/1.1 20")))),
  none("a storm of 1xx", "informational responses (1xx)", onRequest(storm)),
  none("another protocol", "not valid HTTP", answering("220 mail.example ESMTP\r\n")),
  none(
    "two lengths",
    "not valid HTTP",
    answering("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nok"),
  ),
  none("two lengths in one field", "not valid HTTP", answering("HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\n[]")),
  none(
    "two lengths, one of which has a space behind its name",
    "not valid HTTP",
    answering("HTTP/1.1 200 OK\nContent-Length: 2\nContent-Length : 3\n\n[]"),
  ),
  none("a status of two digits", "not valid HTTP", answering("HTTP/1.1 20 OK\r\nContent-Length: 2\r\n\r\n[]")),
  hanging(none("nothing but blank lines", "no response within", onRequest(lines))),
  hanging(
    taken(
      "headers that never end",
      onRequest((socket) => void socket.write("HTTP/1.1 200 OK\r\nX-A: b\r\n")),
    ),
  ),
  hanging(taken("one byte of the headers a moment", onRequest(drip("HTTP/1.1 200 OK\r\nX: y")))),
  taken("60 KB of headers", answering(`HTTP/1.1 200 OK\r\nX: ${"a".repeat(60_000)}\r\n\r\n`)),
  taken("an end in the middle of the headers", saying("HTTP/1.1 200 OK\r\nX-A: b")),
  taken("an end behind the status", saying("HTTP/1.1 200")),
  taken(
    "a length and chunks",
    answering("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
  ),
  taken("a length that is no number", answering("HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\n[]")),
  taken("an empty length", answering("HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n[]")),
  hanging(
    taken("a coding of the transfer that nobody knows", answering("HTTP/1.1 200 OK\r\nTransfer-Encoding: x\r\n\r\n[]")),
  ),
  hanging(taken("a chunk of a wrong size", answering(`${CHUNKED}9\r\n[]\r\n0\r\n\r\n`))),
  ...LOOSE.map(([name, text]) => ({ ...taken(name, answering(text)), whole: true as const })),
  ...LOOSE_ENDS.map(([name, text]) => ({ ...taken(name, saying(text)), whole: true as const })),
  hanging(taken("a body of one byte a moment", onRequest(drip("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nab")))),
  taken("a body shorter than its length", saying("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nab")),
  {
    ...taken("a body longer than its length", saying("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]{}")),
    whole: true,
  },
  taken("broken chunks", saying("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\nzz\r\n")),
  taken("a body after 204", saying("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello")),
  taken("a gzip that is none", answering("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc")),
  taken("a body without end", flood),
  ...["constructor", "__proto__"].map((name) => ({
    ...taken(`a header called ${name}`, answering(`HTTP/1.1 200 OK\r\n${name}: x\r\nContent-Length: 2\r\n\r\n[]`)),
    whole: true as const,
  })),
]

/** The test's own certificate authority, a certificate for `good.test`, and a self-signed one. */
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

/** A name server on the loopback: responds to A queries by name, with nothing to others, and never for silent names. */
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
