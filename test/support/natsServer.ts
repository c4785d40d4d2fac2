/** Debian's nats-server, if `.ci/nats` has installed it, with JetStream on the loopback; and what a reader finds in its streams. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { connect, type ConnectionOptions } from "@nats-io/transport-node"
import { freePorts } from "./packed.ts"

const PROGRAM = ["/usr/sbin/nats-server", "nats-server"].find((name) => spawnSync(name, ["--version"]).status === 0)

/** Whether it is installed. */
export const hasNats = PROGRAM !== undefined

/** A message of a stream. */
export interface StoredMessage {
  readonly subject: string
  readonly text: string
  readonly headers: string
}

/** `settings` are lines of its configuration; `options` are those of a client that may do everything. */
export const startNats = async (settings = "", options: ConnectionOptions = {}) => {
  const [port] = (await freePorts(1)) as [number]
  const home = mkdtempSync(join(tmpdir(), "nats-"))
  writeFileSync(
    join(home, "conf"),
    `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${home}", max_file: 1G }\n${settings}`,
  )
  let child: ChildProcess | null = null
  const client = () => connect({ servers: `127.0.0.1:${port}`, ...options })
  /** Of the management of streams. */
  const call = async (act: string, body: object = {}): Promise<Record<string, never>> => {
    const connection = await client()
    try {
      return (await connection.request(`$JS.API.STREAM.${act}`, JSON.stringify(body), { timeout: 5000 })).json()
    } finally {
      await connection.close()
    }
  }
  const service = {
    endpoint: `nats://127.0.0.1:${port}`,
    start: async () => {
      child = spawn(PROGRAM!, ["-c", join(home, "conf")], { stdio: "ignore" })
      for (;;) {
        try {
          const connection = await client()
          await connection.close()
          return
        } catch {
          await sleep(20)
        }
      }
    },
    stop: async () => {
      if (child === null) return
      const ended = once(child, "exit")
      child.kill("SIGKILL")
      await ended
      child = null
    },
    call,
    client,
    /** A stream of these subjects. */
    create: (name: string, subject: string, more: object = {}) =>
      call(`CREATE.${name}`, { name, subjects: [`${subject}.>`], storage: "file", num_replicas: 1, ...more }),
    publish: async (subject: string, text: string) => {
      const connection = await client()
      await connection.request(subject, text)
      await connection.close()
    },
    messages: async (stream: string): Promise<ReadonlyArray<StoredMessage>> => {
      const { state } = (await call(`INFO.${stream}`)) as { readonly state?: { first_seq: number; last_seq: number } }
      const found: Array<StoredMessage> = []
      if (state === undefined) return found
      const connection = await client()
      for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq++) {
        const response = await connection.request(`$JS.API.STREAM.MSG.GET.${stream}`, JSON.stringify({ seq }))
        const { message } = response.json<{ message?: { subject: string; data?: string; hdrs?: string } }>()
        if (message === undefined) continue
        const textOf = (base64 = "") => Buffer.from(base64, "base64").toString("utf8")
        found.push({ subject: message.subject, text: textOf(message.data), headers: textOf(message.hdrs) })
      }
      await connection.close()
      return found
    },
    close: async () => {
      await service.stop()
      rmSync(home, { recursive: true })
    },
  }
  await service.start()
  return service
}

/** A running server. */
export type NatsService = Awaited<ReturnType<typeof startNats>>
