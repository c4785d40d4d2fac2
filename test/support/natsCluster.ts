/** Three brokers of NATS as one cluster on the loopback, each behind a proxy that can be cut. */
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { natsClient, NatsProcess, natsStreams } from "./natsServer.ts"
import { freePorts } from "./packed.ts"

const BROKERS = 3

/** A way to one port. While it is cut, nothing passes, and new connections get no answer. */
const openProxy = async (port: number) => {
  let isCut = false
  const open = new Set<Socket>()
  const server = createServer((client) => {
    const broker = connect(port, "127.0.0.1")
    for (const [one, other] of [
      [client, broker],
      [broker, client],
    ] as const) {
      open.add(one)
      one.on("error", () => other.destroy())
      one.on("close", () => {
        open.delete(one)
        other.destroy()
      })
      one.on("data", (bytes) => {
        if (!isCut) other.write(bytes)
      })
    }
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const endAll = () => {
    for (const socket of open) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      isCut = true
    },
    /** What was on its way is lost. */
    mend: () => {
      endAll()
      isCut = false
    },
    close: () => {
      endAll()
      server.close()
    },
  }
}

/** Starts the cluster, and waits until it can keep streams. */
export const startNatsCluster = async () => {
  const home = mkdtempSync(join(tmpdir(), "nats-"))
  const ports = await freePorts(BROKERS * 2)
  const routes = ports.slice(BROKERS)
  const brokers = routes.map((route, n) => {
    const conf = join(home, `conf${n}`)
    writeFileSync(
      conf,
      `server_name: b${n}
listen: "127.0.0.1:${ports[n]}"
jetstream { store_dir: "${join(home, `b${n}`)}", max_file: 4G }
cluster { name: c, listen: "127.0.0.1:${route}", routes: [${routes.map((one) => `"nats://127.0.0.1:${one}"`).join(", ")}] }`,
    )
    return new NatsProcess(conf)
  })
  const proxies = await Promise.all(ports.slice(0, BROKERS).map(openProxy))
  for (const broker of brokers) broker.start()
  const streams = natsStreams(() => natsClient(ports.slice(0, BROKERS), { reconnect: false }))
  return {
    ...streams,
    brokers,
    proxies,
    endpoint: proxies.map(({ port }) => `nats://127.0.0.1:${port}`).join(","),
    /** A stream that each broker keeps, as soon as they have agreed on a leader. */
    createReplicated: async (name: string, subject: string) => {
      for (;;) {
        const created = await streams.create(name, subject, { num_replicas: BROKERS }).catch(() => ({ error: "late" }))
        if (!("error" in created)) return
        await sleep(100)
      }
    },
    close: async () => {
      for (const { close } of proxies) close()
      for (const broker of brokers) await broker.stop()
      rmSync(home, { recursive: true })
    },
  }
}

/** A running cluster. */
export type NatsCluster = Awaited<ReturnType<typeof startNatsCluster>>
