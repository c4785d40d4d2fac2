/** A destination in a stream: the contract on a real server, what a broker may refuse, and two writers. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { once } from "node:events"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import type { DestinationPlace } from "@data-cabinet/core/destination/Destination"
import type { NatsCredentials } from "@data-cabinet/core/destination/NatsSettings"
import { FEED_START } from "@data-cabinet/core/feed/FeedStore"
import { parseNetwork } from "@data-cabinet/core/network/IpAddress"
import { JetStream } from "@data-cabinet/delivery/destination/JetStream"
import { natsDestination } from "@data-cabinet/delivery/destination/NatsDestination"
import { layer as names } from "@data-cabinet/delivery/outgoing/NameLookup"
import { layer as client, PinnedClient } from "@data-cabinet/delivery/outgoing/PinnedClient"
import { jwtAuthenticator } from "@nats-io/transport-node"
import { Effect, Fiber, Layer, ManagedRuntime } from "effect"
import { afterAll, assert, beforeAll, describe, it, onTestFinished, vi } from "vitest"
import { Authority } from "../../../../test/support/certificates.ts"
import { destinationContract, place, sliceOf } from "../../../../test/support/destinationContract.ts"
import { jwtService } from "../../../../test/support/natsAccounts.ts"
import { hasNats, type NatsService, startNats } from "../../../../test/support/natsServer.ts"

const PASSWORD = "correct horse"
const SEED = "SUAKEFBWDWX6PGVIM43KRLRZ2M3WGPNZUHSBEBUIHWDNKZXIAGN2YHQ22I"

let service: NatsService
let pinned: PinnedClient["Service"]
const runtime = ManagedRuntime.make(
  client({ allowedNetworks: [parseNetwork("127.0.0.0/8")!] }).pipe(Layer.provide(names({ hostsFile: "/dev/null" }))),
)

const run = <A, E>(work: Effect.Effect<A, E>) => Effect.runPromise(work)
const openAt = (
  of: Partial<DestinationPlace> = {},
  credentials: NatsCredentials | null = { user: "cabinet", password: PASSWORD },
) =>
  natsDestination(
    pinned,
    { location: "nats://EVENTS/cabinet", endpoint: service.endpoint, tag: "aaaaaaaa", ...of },
    credentials,
  )
/** Each call has a connection of its own. */
const each = (of: Partial<DestinationPlace>, credentials?: NatsCredentials | null) => ({
  position: (known = FEED_START) => Effect.scoped(Effect.flatMap(openAt(of, credentials), (at) => at.position(known))),
  write: (slice = sliceOf(0, 1)) => Effect.scoped(Effect.flatMap(openAt(of, credentials), (at) => at.write(slice))),
})
const failureOf = async (of: Partial<DestinationPlace> = {}, credentials?: NatsCredentials | null) =>
  (await run(Effect.flip(each(of, credentials).write()))).message

let streams = 0
const stream = async (more: object = {}) => {
  const name = `S${streams++}`
  await service.create(name, name.toLowerCase(), more)
  return { name, location: `nats://${name}/${name.toLowerCase()}` }
}

describe.skipIf(!hasNats)(
  `a stream of NATS${hasNats ? "" : ": not run, nats-server is missing (.ci/nats installs it)"}`,
  () => {
    beforeAll(async () => {
      service = await startNats(
        `max_payload: 4096\nauthorization { users: [{ user: cabinet, password: "${PASSWORD}" }, { nkey: "UC5ZUX4CCIENT2Z5JB6TWAC6SDF4S5BBPYOYB262INMFGOHWGP22DR37" }] }`,
        { user: "cabinet", pass: PASSWORD },
      )
      pinned = await runtime.runPromise(PinnedClient.use(Effect.succeed))
    })
    afterAll(async () => {
      await runtime.dispose()
      await service.close()
    })

    destinationContract("A stream", async () => {
      const { name, location } = await stream()
      return {
        open: (tag) => each({ tag, location }),
        lines: async () => (await service.messages(name)).map(({ text }) => text),
      }
    })

    it("A stream's messages have their source in the subject, and their place in the headers", async () => {
      const { name, location } = await stream()
      await run(each({ location }).write(sliceOf(0, 1)))
      const [message] = await service.messages(name)
      const at = "aaaaaaaa_00000001.00000000000000000701.0000000000000001"
      assert.strictEqual(message!.subject, "s0.7".replace("s0", name.toLowerCase()))
      assert.include(message!.headers, `\r\nCabinet-Place: ${at}\r\n`)
      assert.include(message!.headers, `\r\nNats-Msg-Id: ${at}\r\n`)
    })

    it("A stream gets the rest of a slice after the part that is there, and continues after what it no longer has", async () => {
      const { name, location } = await stream({ max_msgs: 2 })
      await run(each({ location }).write(sliceOf(0, 3)))
      await run(each({ location }).write(sliceOf(0, 5)))
      const ids = async () => (await service.messages(name)).map(({ text }) => (JSON.parse(text) as { id: number }).id)
      assert.deepEqual(await ids(), [4, 5])
      await service.call(`PURGE.${name}`)
      assert.isNull(await run(each({ location }).position()))
      await run(each({ location }).write(sliceOf(5, 7)))
      assert.deepEqual(await ids(), [6, 7])
      await service.call(`MSG.DELETE.${name}`, { seq: 7 })
      assert.deepEqual(await run(each({ location }).position()), place(6))
    })

    it("A stream stores nothing of a writer that was overtaken, and nothing again", async () => {
      const { name, location } = await stream()
      const connection = await service.client()
      const late = await JetStream.open(connection, name)
      const { sequence } = await late.end("Cabinet-Place")
      await run(each({ location }).write(sliceOf(0, 2)))
      const message = (key: string) => ({
        subject: `${name.toLowerCase()}.7`,
        text: "{}",
        id: key,
        headers: {},
      })
      const refused = (after: number, key: string) =>
        late.publish(message(key), after).then(
          () => "stored",
          (error: unknown) => String(error),
        )
      assert.match(await refused(sequence, "late"), /Another program or process wrote to the stream S\d+ meanwhile/)
      const known = "aaaaaaaa_00000001.00000000000000000701.0000000000000001"
      assert.match(await refused(2, known), /stored a message as 1, not as 3\.$/)
      assert.lengthOf(await service.messages(name), 2)
      await connection.close()
    })

    it("A stream that is full, missing or another's, and a message that is too large, are errors in words", async () => {
      const full = await stream({ max_msgs: 1, discard: "new" })
      await run(each({ location: full.location }).write())
      const second = await run(Effect.flip(each({ location: full.location }).write(sliceOf(0, 2))))
      assert.match(
        second.message,
        /^The stream S\d+ refused a message: 10077 maximum messages exceeded\. Raise its limit/,
      )
      assert.match(
        await failureOf({ location: "nats://NONE/x" }),
        /^The broker has no stream NONE \(stream not found\): create it/,
      )
      const { name } = await stream()
      assert.match(
        await failureOf({ location: `nats://${name}/elsewhere` }),
        /no stream takes the subject elsewhere\.7; add it/,
      )
      await service.publish(`${name.toLowerCase()}.mine`, "a message of another program")
      assert.match(
        await failureOf({ location: `nats://${name}/${name.toLowerCase()}` }),
        /^The stream has messages of another program/,
      )
      const { location } = await stream()
      const large = `{"id":9,"source":{"id":7,"name":"x"},"payload":"${"x".repeat(4096)}"}`
      const items = { texts: () => [large] } as never
      const refused = await run(Effect.flip(each({ location }).write({ ...sliceOf(8, 9), events: [items] })))
      assert.match(
        refused.message,
        /^Event 9 needs \d+ bytes, and the broker takes messages of 4096: raise its max_payload\.$/,
      )
    })

    it("A broker after tls:// must have a certificate for its name by a known authority", async () => {
      const authority = new Authority("brokers")
      const { cert, key } = authority.issue("broker")
      const at = mkdtempSync(join(tmpdir(), "nats-tls-"))
      writeFileSync(join(at, "cert.pem"), cert)
      writeFileSync(join(at, "key.pem"), key)
      const before = getCACertificates("default")
      const trusted = [...before, authority.cert]
      const settings = `tls { cert_file: "${join(at, "cert.pem")}", key_file: "${join(at, "key.pem")}" }`
      const secure = await startNats(settings, { tls: { rejectUnauthorized: false } as object })
      onTestFinished(secure.close)
      await secure.create("SECURE", "secure")
      const of = { location: "nats://SECURE/secure", endpoint: secure.endpoint.replace("nats:", "tls:") }
      assert.match(await failureOf(of, null), /^The broker was not reached at tls:.*certificate/)
      setDefaultCACertificates(trusted)
      await run(each(of, null).write(sliceOf(0, 2)))
      assert.lengthOf(await secure.messages("SECURE"), 2)
      assert.match(
        await failureOf({ ...of, endpoint: secure.endpoint }, null),
        /demands encryption: .* with tls:\/\/\.$/,
      )
      assert.match(
        await failureOf({ ...of, endpoint: of.endpoint.replace("127.0.0.1", "localhost") }, null),
        /localhost/,
      )
      setDefaultCACertificates(before)
      authority.remove()
      rmSync(at, { recursive: true })
    })

    it("A stream is reached by the JWT of a .creds file, and says what its user lacks a permission for", async () => {
      const { settings, user } = jwtService()
      const all = user({})
      const other = await startNats(settings, { authenticator: jwtAuthenticator(all.jwt, Buffer.from(all.seed)) })
      onTestFinished(other.close)
      await other.create("EVENTS", "cabinet")
      const at = { endpoint: other.endpoint }
      await run(each(at, all).write(sliceOf(0, 2)))
      const needed = ["cabinet.>", "$JS.API.STREAM.INFO.EVENTS", "$JS.API.STREAM.MSG.GET.EVENTS"]
      await run(each(at, user({ pub: { allow: needed }, sub: { allow: ["_INBOX.>"] } })).write(sliceOf(0, 3)))
      assert.lengthOf(await other.messages("EVENTS"), 3)
      for (const missing of needed) {
        const allow = needed.filter((subject) => subject !== missing)
        const { message } = await run(Effect.flip(each(at, user({ pub: { allow } })).write(sliceOf(0, 4))))
        assert.match(message, /^The stream EVENTS .*: Permissions Violation for Publish to "/)
        assert.include(message, missing.replace("cabinet.>", "cabinet.7"))
      }
      const stranger = jwtService().user({})
      assert.match(await failureOf(at, stranger), /refused to sign in: .* Give its credentials again/)
    })

    /** A broker that writes this when it is connected to; `heard` has what it was sent. */
    const fakeBroker = async (greet: (socket: Socket) => void) => {
      const heard: Array<string> = []
      const sockets: Array<Socket> = []
      const broker = createServer((socket) => {
        sockets.push(socket)
        socket.on("error", () => {})
        socket.on("data", (data) => heard.push(String(data)))
        greet(socket)
      }).listen(0, "127.0.0.1")
      if (!broker.listening) await once(broker, "listening")
      onTestFinished(() => {
        for (const socket of sockets) socket.destroy()
        broker.close()
      })
      return { broker, heard, sockets, at: `127.0.0.1:${(broker.address() as AddressInfo).port}` }
    }

    it.each([{}, { tls_available: 1 }, { tls_available: "true", tls_required: "" }])(
      "A broker after tls:// that says %j of encryption and does not encrypt is sent nothing",
      async (says) => {
        const { at, heard } = await fakeBroker((socket) => {
          socket.write(
            `INFO ${JSON.stringify({ server_id: "a", version: "2.9.10", proto: 1, headers: true, ...says })}\r\n`,
          )
        })
        assert.match(
          await failureOf({ endpoint: `tls://${at}` }),
          /^The broker was not reached at tls:.* (?:not encrypt|support 'tls')/,
        )
        assert.deepEqual(heard, [])
      },
    )

    it("A broker whose first line does not end is left, and so is one that says nothing", async () => {
      const endless = await fakeBroker((socket) => {
        socket.write("INFO ")
        const more = () => socket.writable && socket.write("x".repeat(8192), more)
        more()
      })
      assert.match(await failureOf({ endpoint: `nats://${endless.at}` }), /it sent more than 65536 bytes\.$/)
      const silent = await fakeBroker(() => {})
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
      onTestFinished(() => void vi.useRealTimers())
      const connected = once(silent.broker, "connection")
      const failed = failureOf({ endpoint: `nats://${silent.at}` })
      await connected
      const left = once(silent.sockets[0]!, "close")
      await vi.advanceTimersByTimeAsync(3_000)
      assert.match(await failed, /^The broker was not reached at nats:.*timeout/)
      await left
    })

    it.each([
      ["says nothing", () => {}],
      [
        "does not sign it in",
        (socket: Socket) => void socket.write('INFO {"server_id":"a","version":"2.9.10","proto":1,"headers":true}\r\n'),
      ],
    ])(
      "Connecting to nine brokers, each of which %s, ends at once, with its socket, when it is interrupted",
      async (_, greet) => {
        const { at, sockets, broker } = await fakeBroker(greet)
        const connected = once(broker, "connection")
        const endpoint = Array.from({ length: 9 }, () => `nats://${at}`).join()
        vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
        onTestFinished(() => void vi.useRealTimers())
        const fiber = Effect.runFork(each({ endpoint }).position())
        await connected
        if (greet.length > 0) await once(sockets[0]!, "data")
        const left = once(sockets[0]!, "close")
        await Effect.runPromise(Fiber.interrupt(fiber))
        await left
        assert.lengthOf(sockets, 1)
      },
    )

    it("A broker's announced addresses are not connected to", async () => {
      let reached = 0
      const canary = createServer(() => reached++).listen(0, "127.0.0.1")
      const announced = () => `127.0.0.1:${(canary.address() as AddressInfo).port}`
      const broker = createServer((socket) => {
        const info = { server_id: "a", version: "2.9.10", proto: 1, headers: true, max_payload: 4096 }
        socket.write(`INFO ${JSON.stringify({ ...info, connect_urls: [announced()] })}\r\n`)
        socket.on("error", () => {})
        socket.on("data", (data) => (data.includes("PING") ? socket.write("PONG\r\n") : socket.destroy()))
      }).listen(0, "127.0.0.1")
      for (const server of [canary, broker]) if (!server.listening) await once(server, "listening")
      const endpoint = `nats://127.0.0.1:${(broker.address() as AddressInfo).port}`
      assert.match(await failureOf({ endpoint }), /^The stream EVENTS could not be read: .*clos/)
      assert.strictEqual(reached, 0)
      broker.close()
      canary.close()
    })

    it("A broker is reached only with its credentials, at public or allowed addresses, and encrypted if that is demanded", async () => {
      const { location } = await stream()
      await run(each({ location }, { seed: SEED, jwt: null }).write())
      for (const wrong of [{ user: "cabinet", password: "wrong" }, { token: "wrong" }, null]) {
        const message = await failureOf({ location }, wrong)
        assert.match(
          message,
          /^The broker nats:\/\/127\.0\.0\.1:\d+ refused to sign in: .*credentials.* with cabinet destination set\.$/,
        )
        assert.notInclude(message, "wrong")
      }
      assert.match(
        await failureOf({ location, endpoint: "nats://10.0.0.1:4222" }),
        /10\.0\.0\.1 is not a public address/,
      )
      assert.match(await failureOf({ location, endpoint: service.endpoint.replace("nats:", "tls:") }), /tls/)
      const several = `nats://127.0.0.1:9,${service.endpoint}`
      assert.deepEqual(await run(each({ location, endpoint: several }).position()), place(1))
      assert.match(
        await failureOf({ location, endpoint: "nats://127.0.0.1:9" }),
        /^The broker was not reached at nats:\/\/127\.0\.0\.1:9: /,
      )
    })
  },
)
