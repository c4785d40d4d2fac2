/**
 * The receiver of deliveries: responds with 204 to every request as fast as it can read, and reports when a tenth, and when
 * all, of the expected requests have arrived. It only looks at lengths.
 */
import { createServer } from "node:net"
import { createInterface } from "node:readline"

const ANSWER = "HTTP/1.1 204 No Content\r\n\r\n"
const LENGTH = /\r\ncontent-length: *(\d+)/i

let expected = 0
let count = 0
let tenth = 0

const came = (): void => {
  count++
  if (count === Math.ceil(expected / 10)) tenth = performance.now()
  if (count === expected) {
    const seconds = (performance.now() - tenth) / 1000
    process.stdout.write(`${JSON.stringify({ done: count - Math.ceil(expected / 10), seconds })}\n`)
  }
}

const server = createServer({ noDelay: true }, (socket) => {
  let rest = Buffer.alloc(0)
  socket.on("error", () => {})
  socket.on("data", (chunk) => {
    let data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let answers = ""
    for (;;) {
      const end = data.indexOf("\r\n\r\n")
      if (end === -1) break
      const length = Number(LENGTH.exec(data.toString("latin1", 0, end))?.[1] ?? 0)
      if (data.length < end + 4 + length) break
      data = data.subarray(end + 4 + length)
      answers += ANSWER
      came()
    }
    rest = data
    if (answers !== "") socket.write(answers)
  })
})

process.once("SIGINT", () => process.exit(0))
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.stdout.write(`${JSON.stringify({ port: typeof address === "object" ? address?.port : 0 })}\n`)
})
for await (const line of createInterface(process.stdin)) {
  expected = (JSON.parse(line) as { expect: number }).expect
  count = 0
}
