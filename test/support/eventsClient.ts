/** Requests of the protocol's extension for events, as its clients send them. */

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { extensions: { "io.modelcontextprotocol/events": {} } },
}

export interface Answer {
  readonly status: number
  readonly result?: any
  readonly error?: { readonly code: number; readonly message: string; readonly data?: any }
  readonly text: string
}

/** A client of the address /mcp at `base`, with this key or token. */
export const eventsClient = (base: string, key: string) => {
  const post = (method: string, params: object) =>
    fetch(`${base}/mcp`, {
      method: "POST",
      body: JSON.stringify({ jsonrpc: "2.0", id: 7, method, params: { _meta: META, ...params } }),
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
      },
    })
  const call = async (method: string, params: object = {}): Promise<Answer> => {
    const response = await post(method, params)
    const text = await response.text()
    const { result, error } = JSON.parse(text) as Pick<Answer, "result" | "error">
    return { status: response.status, text, result, ...(error === undefined ? {} : { error }) }
  }
  return {
    call,
    /** The messages of a stream, until it ends. */
    async *stream(params: object): AsyncGenerator<{ readonly json: any; readonly text: string }> {
      const response = await post("events/stream", params)
      if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true) {
        throw new Error(await response.text())
      }
      let kept = ""
      for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
        kept += piece
        for (let end = kept.indexOf("\n\n"); end !== -1; end = kept.indexOf("\n\n")) {
          const lines = kept.slice(0, end).split("\n")
          kept = kept.slice(end + 2)
          const data = lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice(6))
          if (data.length > 0) yield { text: data.join("\n"), json: JSON.parse(data.join("\n")) }
        }
      }
    },
  }
}

export type EventsClient = ReturnType<typeof eventsClient>
