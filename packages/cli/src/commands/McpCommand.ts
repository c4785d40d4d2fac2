/**
 * `cabinet mcp`: the tools of `/mcp` on standard input and output, for agents that start their servers as programs. A
 * message a line; nothing else is printed. Ends with its input, after the last response.
 */
import {
  type AgentMessage,
  type AgentResponse,
  agentServer,
  idOf,
  readAgentMessage,
  refusedResponse,
} from "@data-cabinet/core/agent/AgentServer"
import type { AgentReader, ToolError } from "@data-cabinet/core/agent/AgentTools"
import { rpcError } from "@data-cabinet/core/agent/ProtocolError"
import { toolRefusal } from "@data-cabinet/core/agent/ToolRefusal"
import { Tables } from "@data-cabinet/core/row/Tables"
import { RemoteRefusal } from "@data-cabinet/remote/http/RemoteRefusal"
import { Effect, Fiber, Latch, Result, Semaphore, Stream } from "effect"
import { Command } from "effect/cli"
import { boundedLines } from "./BoundedLines.ts"
import { printValue } from "../output/Report.ts"
import { staysUntilSignal } from "../process/Signals.ts"
import { CommandError } from "../error/CommandError.ts"
import { root, withCabinet } from "./Root.ts"

const MAX_LINE_BYTES = 65_536
/** How many messages are processed concurrently; the next one is read when one of them is done. */
const MAX_AT_ONCE = 16

const tooLong = rpcError("invalid", `A message may have at most ${MAX_LINE_BYTES} bytes.`)

const ending: Effect.Effect<never, ToolError> = Effect.fail(toolRefusal("unavailable", "The input has ended."))

const decoder = new TextDecoder()

const serve = Effect.gen(function* () {
  const server = yield* agentServer
  const ended = yield* Latch.make(false)
  const turns = yield* Semaphore.make(MAX_AT_ONCE)
  /** By the id of their message. */
  const running = new Map<string, Fiber.Fiber<void>>()
  const reader: AgentReader = {
    scope: null,
    // Those of a remote cabinet are shown by its server, to tokens that may see them.
    seesAddresses: true,
    tables: yield* Tables,
    waiting: (work) => Effect.raceFirst(work({}), Effect.andThen(ended.await, ending)),
  }

  const handled = (message: AgentMessage): Effect.Effect<AgentResponse | null> =>
    Effect.catchDefect(server.handle(message, reader), (defect) => {
      if (defect instanceof RemoteRefusal) return Effect.succeed(refusedResponse(message, defect))
      const text = rpcError("internal", "An unexpected error.", message.id!)
      const failed: AgentResponse = { text, waitedMillis: 0, status: 200 }
      return Effect.as(Effect.logError("a message failed", defect), failed)
    })

  const start = (message: AgentMessage, id: string) =>
    Effect.gen(function* () {
      yield* turns.take(1)
      const work = Effect.flatMap(handled(message), (response) =>
        response === null ? Effect.void : printValue(response.text),
      )
      const done = Effect.sync(() => running.delete(id)).pipe(Effect.andThen(turns.release(1)))
      running.set(id, yield* Effect.forkChild(Effect.ensuring(work, done)))
    })

  const receive = (line: Uint8Array | null): Effect.Effect<void> => {
    if (line === null) return printValue(tooLong)
    const text = decoder.decode(line)
    if (text.trim() === "") return Effect.void
    const message = readAgentMessage(text)
    if (Result.isFailure(message)) return printValue(message.failure)
    const { id, method, params } = message.success
    if (id !== null) return start(message.success, id)
    const cancelled = method === "notifications/cancelled" ? idOf(params.get("requestId")) : null
    const fiber = running.get(cancelled ?? "")
    return fiber === undefined ? Effect.void : Fiber.interrupt(fiber)
  }

  const lines = Stream.fromAsyncIterable(boundedLines(process.stdin, MAX_LINE_BYTES), asError)
  yield* Stream.runForEach(lines, receive)
  yield* ended.open
  yield* Fiber.awaitAll(running.values())
})

const asError = (error: unknown) =>
  new CommandError({
    code: "refused",
    message: `The input cannot be read: ${error instanceof Error ? error.message : String(error)}.`,
  })

export const mcpCommand = Command.make("mcp", {}, () =>
  Effect.gen(function* () {
    const { curl } = yield* root
    if (curl) {
      const message = "mcp sends requests only when an agent calls it: leave --curl out."
      return yield* new CommandError({ code: "usage", message })
    }
    yield* staysUntilSignal
    return yield* withCabinet({}, () => serve)
  }),
).pipe(Command.withDescription("Let an agent read the cabinet over standard input and output"))
