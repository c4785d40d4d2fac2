/** A receiver that reports when each request arrived, in nanoseconds of the machine's own clock, which all processes share. */
import { createServer } from "node:http"

const server = createServer((request, response) => {
  const at = process.hrtime.bigint()
  request.resume()
  request.on("end", () => {
    response.writeHead(204).end()
    process.stdout.write(`"${at}"\n`)
  })
})

process.once("SIGINT", () => process.exit(0))
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.stdout.write(`${JSON.stringify({ port: typeof address === "object" ? address?.port : 0 })}\n`)
})
