/** Properties of the reader of response heads; whole responses of receivers are in `hostileReceivers`. */
import { LooseHead, MAX_INFORMATIONAL } from "@data-cabinet/delivery/outgoing/LooseHead"
import { expect, it } from "vitest"
import { type Random, randomOf, seeded } from "../../../../test/support/random.ts"
import { LOOSE } from "./hostileReceivers.ts"

const MAX_BYTES = 1000
const awaiting = () => {
  const head = new LooseHead(MAX_BYTES)
  head.await()
  return head
}
/** What the parser receives for these pieces. */
const read = (head: LooseHead, pieces: Iterable<Buffer>): Buffer =>
  Buffer.concat([...pieces].flatMap((piece) => head.push(piece) ?? []))
const cut = (bytes: Buffer, random: Random): Array<Buffer> => {
  const pieces: Array<Buffer> = []
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + random(randomOf(random, [1, 5, 100]))
    pieces.push(bytes.subarray(at, end))
    at = end
  }
  return pieces
}
const text = (random: Random, letters: string, most: number) =>
  Array.from({ length: random(most) }, () => randomOf(random, [...letters])).join("")

it("LooseHead passes a correct head and what follows it byte for byte, wherever it is cut", () => {
  for (let seed = 0; seed < 500; seed++) {
    const random = seeded(seed)
    const field = () => `X${text(random, "aZ-_0", 9)}: ${text(random, 'a:,"~\xa0\xff', 9)}\r\n`
    const fields = Array.from({ length: random(6) }, field).join("")
    const body = text(random, "\r\n\0aHTTP/1. 200", 30)
    const bytes = Buffer.from(`HTTP/1.1 ${200 + random(400)} Fine\r\n${fields}\r\n${body}`, "latin1")
    expect(read(awaiting(), cut(bytes, random)).toString("latin1")).toBe(bytes.toString("latin1"))
  }
})

it("LooseHead rebuilds no head that keeps every rule, and any other", () => {
  const passes = (head: string) => {
    const bytes = Buffer.from(`${head}\r\n`, "latin1")
    return awaiting().push(bytes) === bytes
  }
  const rest = "Date: Sun, 29 Nov 2026 10:00:00 GMT\r\nConnection: keep-alive\r\n"
  expect(passes(`HTTP/1.1 204 No Content\r\n${rest}`)).toBe(true)
  expect(passes(`HTTP/1.1 200 OK\r\n${rest}content-length: 2\r\n`)).toBe(true)
  for (const loose of [
    "HTTP/1.0 200 OK\r\n",
    "HTTP/1.1 200 OK\n",
    "HTTP/1.1 200 OK\r\nA : b\r\n",
    "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n",
    "HTTP/1.1 200 OK\r\nA: b\0\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\ncontent-length: 2\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n",
  ]) {
    expect(passes(loose), loose).toBe(false)
  }
})

it("LooseHead corrects a loose head to the same bytes, wherever it is cut", () => {
  for (const [name, loose] of LOOSE) {
    const bytes = Buffer.from(loose as string)
    const mended = read(awaiting(), [bytes]).toString("latin1")
    expect(mended, name).toMatch(/^HTTP\/1\.[01] 200 .*\r\n(?:[^\s:]+: [^\r\n\0]*\r\n)*\r\n/)
    expect(mended.match(/^content-length:.*$/gim) ?? [], name).toEqual(/chunk/.test(name) ? [] : ["Content-Length: 2"])
    for (let seed = 0; seed < 50; seed++) {
      expect(read(awaiting(), cut(bytes, seeded(seed))).toString("latin1"), name).toBe(mended)
    }
  }
})

it("LooseHead never throws, and buffers no more than a head, for any input", () => {
  const parts = ["HTTP/1.1 ", "200", "100", "\r\n", "\n", "\r\r", "A: b", ":", "Content-Length: 2", " ", "\0\xff"]
  for (let seed = 0; seed < 2000; seed++) {
    const random = seeded(seed)
    const head = awaiting()
    let held = 0
    let most = 0
    for (let count = 0; count < 200; count++) {
      const bytes = Buffer.from(randomOf(random, parts), "latin1")
      const passed = head.push(bytes)
      if (bytes.includes(10)) held = 0
      held = passed === null ? held + bytes.length : -Infinity
      most = Math.max(most, held)
      head.seen()
    }
    expect(most).toBeLessThan(MAX_BYTES)
    expect(read(head, [Buffer.alloc(MAX_BYTES, "a")]).length).toBeGreaterThan(0)
  }
})

it("LooseHead passes on unsolicited bytes, so that the parser refuses them", () => {
  const head = new LooseHead(MAX_BYTES)
  const early = Buffer.from("HTTP/1.1 200 OK\n")
  expect([head.push(early), head.seen()]).toEqual([early, null])
  head.await()
  expect(head.push(early)).toBeNull()
  expect(head.seen()).toMatchObject({ status: 200 })
})

it("LooseHead lets one informational response past its limit through, with any status", () => {
  const one = "HTTP/1.1 100 Continue\r\n\r\n"
  const after = (count: number) => read(awaiting(), [Buffer.from(one.repeat(count))]).toString()
  expect([after(MAX_INFORMATIONAL), after(MAX_INFORMATIONAL + 1)]).toEqual(["", "HTTP/1.1 103 \r\n\r\n"])
})

it("LooseHead reads status and headers of a head that never ends, but nothing of one with two lengths", () => {
  const seen = (sent: string) => {
    const head = awaiting()
    head.push(Buffer.from(sent))
    return head.seen()
  }
  expect(seen("HTTP/1.1 204")).toEqual({ status: 204, headers: {} })
  expect(seen("HTTP/1.1 410 Gone\nA: b\na:  c\nX")).toEqual({ status: 410, headers: { a: ["b", "c"] } })
  for (const none of ["", "HTTP/1.1 20", "HTTP/1.1 2000 OK\r\n", "HTTP/1.1 103 \r\n", "220 mail\r\n"]) {
    expect(seen(none), none).toBeNull()
  }
  expect(seen("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n")).toBeNull()
})

it("LooseHead reads hostile heads in linear time", () => {
  const head = new LooseHead(16_384)
  const status = (sent: string) => {
    head.await()
    head.push(Buffer.from(`HTTP/1.1 200 ${sent}`))
    return head.seen()?.status
  }
  // Each would take minutes if white space or line ends were searched again from every position.
  for (const part of ["\r", "\n", " ", "\t", "\r\n ", "a:\n", ":\n", "\0"])
    expect(status(part.repeat(300_000))).toBe(200)
})
