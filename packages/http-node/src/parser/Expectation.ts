/**
 * `Expect: 100-continue`: the sender waits for a `100 Continue` before its body. It is sent when something begins to
 * read the body; a request refused earlier gets its refusal at once, and its body need not be sent. Any other
 * expectation is ignored.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http"

export const handleExpectations = (server: Server): void => {
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    let keepAlive = false
    request._read = (size) => {
      // Restores its own method, which is the prototype's.
      Reflect.deleteProperty(request, "_read")
      if (!response.headersSent) {
        response.writeContinue()
        response.shouldKeepAlive = keepAlive
      }
      request._read(size)
    }
    server.emit("request", request, response)
    // A body may arrive although it was not requested, so no request can follow on this connection.
    keepAlive = response.shouldKeepAlive
    response.shouldKeepAlive = false
  })
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    server.emit("request", request, response)
  })
}
