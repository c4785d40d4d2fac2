/** Debian's nats-server, if `.ci/nats` has installed it, with JetStream on the loopback; and what a reader finds in its streams. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { connect, type ConnectionOptions, type NatsConnection } from "@nats-io/transport-node"
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

/** How many messages are read at once. */
const AT_ONCE = 200

/** What a client that may do everything does with streams. */
export const natsStreams = (client: () => Promise<NatsConnection>) => {
  /** Of the management of streams. */
  const call = async (act: string, body: object = {}): Promise<Record<string, never>> => {
    const connection = await client()
    try {
      return (await connection.request(`$JS.API.STREAM.${act}`, JSON.stringify(body), { timeout: 5000 })).json()
    } finally {
      await connection.close()
    }
  }
  const messageAt = async (connection: NatsConnection, stream: string, seq: number): Promise<StoredMessage | null> => {
    const response = await connection.request(`$JS.API.STREAM.MSG.GET.${stream}`, JSON.stringify({ seq }), {
      timeout: 30_000,
    })
    const { message } = response.json<{ message?: { subject: string; data?: string; hdrs?: string } }>()
    const textOf = (base64 = "") => Buffer.from(base64, "base64").toString("utf8")
    return message === undefined
      ? null
      : { subject: message.subject, text: textOf(message.data), headers: textOf(message.hdrs) }
  }
  return {
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
      const found: Array<StoredMessage | null> = []
      if (state === undefined) return []
      const connection = await client()
      for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq += AT_ONCE) {
        const count = Math.min(AT_ONCE, state.last_seq - seq + 1)
        const read = Array.from({ length: count }, (_, n) => messageAt(connection, stream, seq + n))
        found.push(...(await Promise.all(read)))
      }
      await connection.close()
      return found.filter((message) => message !== null)
    },
  }
}

/** One broker as a process of its own. */
export class NatsProcess {
  readonly #conf: string
  #child: ChildProcess | null = null

  constructor(conf: string) {
    this.#conf = conf
  }

  start(): void {
    this.#child = spawn(PROGRAM!, ["-c", this.#conf], { stdio: "ignore" })
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal)
  }

  /** Whether it has ended by itself: its port was taken, say. */
  get isGone(): boolean {
    return this.#child === null || this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  async stop(): Promise<void> {
    if (this.#child !== null && !this.isGone) {
      const ended = once(this.#child, "exit")
      this.#child.kill("SIGKILL")
      await ended
    }
    this.#child = null
  }
}

/** A client of whichever broker of these ports accepts it. */
export const natsClient = async (
  ports: ReadonlyArray<number>,
  options: ConnectionOptions = {},
  beforeRetry = () => {},
): Promise<NatsConnection> => {
  for (;;) {
    try {
      return await connect({ servers: ports.map((port) => `127.0.0.1:${port}`), ...options })
    } catch {
      await sleep(20)
      beforeRetry()
    }
  }
}

/** `settings` are lines of its configuration; `options` are those of a client that may do everything. */
export const startNats = async (settings = "", options: ConnectionOptions = {}) => {
  const ports = await freePorts(1)
  const home = mkdtempSync(join(tmpdir(), "nats-"))
  const conf = join(home, "conf")
  writeFileSync(conf, `listen: "127.0.0.1:${ports[0]}"\njetstream { store_dir: "${home}", max_file: 1G }\n${settings}`)
  const broker = new NatsProcess(conf)
  const client = () => natsClient(ports, options)
  const service = {
    ...natsStreams(client),
    endpoint: `nats://127.0.0.1:${ports[0]}`,
    start: async () => {
      const again = () => {
        if (broker.isGone) broker.start()
      }
      again()
      await (await natsClient(ports, options, again)).close()
    },
    stop: () => broker.stop(),
    close: async () => {
      await broker.stop()
      rmSync(home, { recursive: true })
    },
  }
  await service.start()
  return service
}

/** A running server. */
export type NatsService = Awaited<ReturnType<typeof startNats>>
