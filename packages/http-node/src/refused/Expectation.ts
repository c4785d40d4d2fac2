/**
 * `Expect: 100-continue`: the sender waits to be asked for its body. It is asked when something begins to read that; who is
 * refused before is told so at once, and has not sent it for nothing. Any other expectation is passed over.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http"

export const heedExpectations = (server: Server): void => {
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    let keepAlive = false
    request._read = (size) => {
      // Its own again, which is the prototype's.
      Reflect.deleteProperty(request, "_read")
      if (!response.headersSent) {
        response.writeContinue()
        response.shouldKeepAlive = keepAlive
      }
      request._read(size)
    }
    server.emit("request", request, response)
    // Whether the body of somebody who was not asked comes all the same, nobody knows: nothing can follow it.
    keepAlive = response.shouldKeepAlive
    response.shouldKeepAlive = false
  })
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    server.emit("request", request, response)
  })
}
