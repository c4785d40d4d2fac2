/**
 * The load generator: a separate process that writes prepared requests to kept-alive sockets, and reads only the status
 * and the length of responses. It writes a counter into each request, so that no two bodies are equal. It reads its
 * orders as JSON from stdin, prints "begin" and "end" around the measurement, and then the results.
 *
 * Closed loop: every connection sends its next request when it has its response. Paced: requests become due at an even
 * rate regardless of responses. Latency counts from the time at which a request was due, so that a stalled server
 * shows.
 */
import { createHmac } from "node:crypto"
import { connect, type Socket } from "node:net"
import type { LoadOrder, LoadResult } from "./load.ts"
import { SIGNATURE, SLOT } from "./request.ts"

let told = ""
for await (const chunk of process.stdin) told += String(chunk)
const order = JSON.parse(told) as LoadOrder

const latencies: Array<number> = []
let counter = order.first
let done = 0
let failures = 0
let firstFailure: string | null = null
let bytes = 0
let measuring = false
/** How late this process's own timer was at most while it measured, in milliseconds. */
let late = 0
let stopping = false

interface Template {
  readonly bytes: Buffer
  readonly slots: ReadonlyArray<number>
  /** The positions of its signature and its body; null if it is not signed. */
  readonly signed: { readonly at: number; readonly body: Buffer } | null
}

interface Line {
  readonly socket: Socket
  readonly requests: ReadonlyArray<Template>
  turn: number
  rest: Buffer | undefined
  /**
   * State of the incoming response: the bytes of the body still missing, all of its bytes, and whether it is a success.
   */
  missing: number
  length: number
  good: boolean
  /** When the request in flight was sent or due; undefined while idle. */
  since: number | undefined
}

const slotsOf = (response: Buffer): ReadonlyArray<number> => {
  const slots: Array<number> = []
  for (let at = response.indexOf(SLOT); at !== -1; at = response.indexOf(SLOT, at + SLOT.length)) slots.push(at)
  return slots
}

const signedOf = (request: Buffer): Template["signed"] => {
  const at = request.indexOf(SIGNATURE)
  return at === -1 ? null : { at, body: request.subarray(request.indexOf("\r\n\r\n") + 4) }
}

const idle: Array<Line> = []
const due: Array<number> = []

const send = (line: Line, since: number): void => {
  line.since = since
  const { bytes: request, slots, signed } = line.requests[line.turn++ % line.requests.length]!
  for (const slot of slots) {
    let n = counter++
    for (let at = slot + SLOT.length - 1; at >= slot; at--) {
      request[at] = 48 + (n % 10)
      n = Math.floor(n / 10)
    }
  }
  if (signed !== null) request.write(createHmac("sha256", order.secret!).update(signed.body).digest("hex"), signed.at)
  // Copied, because the socket may still hold it when the next one is written.
  line.socket.write(slots.length === 0 ? request : Buffer.from(request))
}

const next = (line: Line): void => {
  if (stopping) return
  if (order.rate === null) return send(line, performance.now())
  const since = due.shift()
  if (since === undefined) idle.push(line)
  else send(line, since)
}

const LENGTH = /\r\ncontent-length: *(\d+)/i

const answered = (line: Line, good: boolean, length: number): void => {
  if (measuring) {
    if (good) done++
    else failures++
    bytes += length
    latencies.push(performance.now() - line.since!)
  }
  line.since = undefined
  next(line)
}

/**
 * A connection has one request in flight, so the data are its response: the head, then the declared number of bytes.
 */
const take = (line: Line, chunk: Buffer): void => {
  if (line.missing > 0) {
    line.missing -= chunk.length
    if (line.missing <= 0) answered(line, line.good, line.length)
    return
  }
  const data = line.rest === undefined ? chunk : Buffer.concat([line.rest, chunk])
  line.rest = undefined
  const end = data.indexOf("\r\n\r\n")
  if (end === -1) {
    line.rest = data
    return
  }
  const head = data.toString("latin1", 0, end)
  line.length = Number(LENGTH.exec(head)?.[1] ?? Number.NaN)
  if (Number.isNaN(line.length)) throw new Error(`an answer without a length: ${head}`)
  line.good = data[9] === 50 // "2" of "HTTP/1.1 2xx"
  if (!line.good) firstFailure ??= data.toString("latin1", 0, 600)
  line.missing = end + 4 + line.length - data.length
  if (line.missing <= 0) answered(line, line.good, line.length)
}

const open = (): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port: order.port, host: "127.0.0.1", noDelay: true })
    const requests = order.requests.map((text) => {
      const request = Buffer.from(text, "latin1")
      return { bytes: request, slots: slotsOf(request), signed: signedOf(request) }
    })
    const line: Line = {
      socket,
      requests,
      turn: Math.floor(Math.random() * requests.length),
      rest: undefined,
      missing: 0,
      length: 0,
      good: false,
      since: undefined,
    }
    socket.once("error", reject)
    socket.on("data", (chunk) => take(line, chunk))
    socket.once("connect", () => {
      resolve()
      next(line)
    })
    socket.once("close", () => {
      if (!stopping) throw new Error("the server closed a connection")
    })
  })

const pace = (rate: number): NodeJS.Timeout => {
  let last = performance.now()
  let owed = 0
  return setInterval(() => {
    const now = performance.now()
    if (measuring) late = Math.max(late, now - last - 1)
    owed += ((now - last) * rate) / 1000
    const count = Math.floor(owed)
    for (let n = 0; n < count; n++) {
      // Each was due at its own moment of the time gone by.
      const since = last + ((now - last) * (n + 1)) / owed
      // In turn, because a server closes a connection that has never sent a request.
      const line = idle.shift()
      if (line === undefined) due.push(since)
      else send(line, since)
    }
    owed -= count
    last = now
  }, 1)
}

const sleep = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000))

await Promise.all(Array.from({ length: order.connections }, open))
const timer = order.rate === null ? undefined : pace(order.rate)
await sleep(order.warmUp)
measuring = true
const began = performance.now()
process.stdout.write("begin\n")
await sleep(order.seconds)
measuring = false
const seconds = (performance.now() - began) / 1000
process.stdout.write("end\n")
stopping = true
clearInterval(timer)
latencies.sort((a, b) => a - b)
const quantile = (q: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * q))] ?? 0
const result: LoadResult = {
  done,
  failures,
  firstFailure,
  seconds,
  bytes,
  next: counter,
  median: quantile(0.5),
  p99: quantile(0.99),
  most: latencies.at(-1) ?? 0,
  late,
  waiting: due.length,
}
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0))
