/**
 * Every example receiver whose language is installed accepts what we sign, and nothing else. For other languages the source
 * is checked.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { connect } from "node:net"
import { signDelivery } from "@data-cabinet/core/delivery/Signature"
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest"
import { freePorts } from "../support/packed.ts"
import vectors from "../../examples/receivers/vectors.json" with { type: "json" }

const SECRET = "whsec_example"
const here = (file: string) => new URL(`../../examples/receivers/${file}`, import.meta.url).pathname

const languages = [
  { name: "Node", probe: [process.execPath, "--version"], run: () => [process.execPath, here("receiver.mjs")] },
  { name: "Python", probe: ["python3", "--version"], run: () => ["python3", here("receiver.py")] },
  {
    name: "PHP",
    probe: ["php", "--version"],
    run: (port: number) => ["php", "-S", `127.0.0.1:${port}`, here("receiver.php")],
  },
  { name: "Go", probe: ["go", "version"], run: () => ["go", "run", here("receiver.go")] },
].filter(({ probe }) => spawnSync(probe[0]!, probe.slice(1)).status === 0)

const now = () => Math.floor(Date.now() / 1000)
const bytes = (text: string) => new TextEncoder().encode(text)

describe.each(languages)("the receiver in $name", ({ name, run }) => {
  let child: ChildProcess
  let printed = ""
  let port: number
  const post = async (body: string, signature: string) => {
    const headers = { "content-type": "application/json", "x-service-signature": signature }
    return (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body, headers })).status
  }

  beforeAll(async () => {
    port = (await freePorts(1))[0]!
    const [command, ...words] = run(port)
    child = spawn(command!, words, {
      env: { ...process.env, SIGNING_SECRET: SECRET, PORT: String(port) },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    })
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on("data", (text: Buffer) => (printed += text.toString()))
    }
    // Any response shows that it listens.
    for (let ready = false; !ready;) {
      ready = await post("", "").then(
        () => true,
        () => new Promise<false>((done) => setTimeout(done, 50, false)),
      )
    }
  })
  afterAll(() => {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
  })

  it.each(vectors.vectors.filter(({ body }) => body !== "").map(({ name: vector, body }) => [vector, body] as const))(
    "takes the published body: %s",
    async (_name, body) => {
      expect(await post(body, signDelivery(bytes(body), [SECRET], now()))).toBe(204)
      expect(await post(body, signDelivery(bytes(body), ["whsec_new", SECRET], now()))).toBe(204)
    },
  )

  // PHP handles each request separately, so its receiver relies on a database to remember.
  it.each(name === "PHP" ? [] : ["the same id"])("does nothing the second time for %s", async () => {
    const of = (id: number) =>
      `{"id":${id},"type":"event.received","created_at":"2026-11-21T09:30:00Z","source":{"id":1,"name":"Twice"},"data":{"id":${id}}}`
    for (const id of [901, 901, 902, 901, 903]) {
      expect(await post(of(id), signDelivery(bytes(of(id)), [SECRET], now()))).toBe(204)
    }
    await vi.waitUntil(() => printed.includes("event 903 of Twice"), { timeout: 100_000 })
    expect(printed.match(/event \d+ of Twice/g)).toEqual([
      "event 901 of Twice",
      "event 902 of Twice",
      "event 903 of Twice",
    ])
  })

  it("takes each event of a batch, and refuses one that was changed", async () => {
    const of = (id: number) =>
      `{"id":${id},"type":"event.received","created_at":"2026-11-21T09:30:00Z","source":{"id":1,"name":"Batch"},"data":{"id":${id}}}`
    const batch = `{"id":805,"type":"events.received","created_at":"2026-11-21T09:30:00Z","events":[${[803, 804, 805].map(of).join()}]}`
    const signature = signDelivery(bytes(batch), [SECRET], now())
    expect(await post(batch.replace("803", "802"), signature)).toBe(401)
    expect(await post(batch, signature)).toBe(204)
    await vi.waitUntil(() => printed.includes("event 805 of Batch"), { timeout: 100_000 })
    expect(printed.match(/event \d+ of Batch/g)).toEqual([803, 804, 805].map((id) => `event ${id} of Batch`))
  })

  it("refuses a wrong secret, changed bytes, an old or missing time, and a missing signature", async () => {
    const body = vectors.vectors[0]!.body
    const good = signDelivery(bytes(body), [SECRET], now())
    expect(await post(body, signDelivery(bytes(body), ["other"], now()))).toBe(401)
    expect(await post(`${body} `, good)).toBe(401)
    expect(await post(body, signDelivery(bytes(body), [SECRET], now() - 400))).toBe(401)
    expect(await post(body, signDelivery(bytes(body), [SECRET], now() + 400))).toBe(401)
    expect(await post(body, good.replace(/^t=\d+,/, ""))).toBe(401)
    expect(await post(body, "")).toBe(401)
  })

  it("continues when a client disconnects in the middle of a body, or sends one that is not JSON", async () => {
    const head = "POST / HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
    for (let n = 0; n < 3; n++) {
      const client = connect(port, "127.0.0.1")
      client.on("error", () => {})
      await once(client, "connect")
      // The connection ends only after the body has been passed to the receiver.
      await new Promise<void>((sent) => client.write(`${head}{"id":1`, () => sent()))
      client.resetAndDestroy()
      await once(client, "close")
    }
    const signed = signDelivery(bytes("no json"), [SECRET], now())
    await post("no json", signed).catch(() => undefined)
    const body = vectors.vectors[0]!.body
    expect(await post(body, signDelivery(bytes(body), [SECRET], now()))).toBe(204)
    expect(child.exitCode).toBeNull()
  })

  it.each([
    ["not set", {}],
    ["empty", { SIGNING_SECRET: "" }],
  ])("accepts nothing and says why while its secret is %s", async (_name, secret) => {
    const [other] = await freePorts(1)
    const [command, ...words] = run(other!)
    const { SIGNING_SECRET: _, ...env } = process.env
    const bare = spawn(command!, words, {
      env: { ...env, ...secret, PORT: String(other) },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    })
    let said = ""
    for (const stream of [bare.stdout, bare.stderr]) stream.on("data", (text: Buffer) => (said += text.toString()))
    // Not at its exit, after which the rest of what it said may still come.
    const ended = once(bare, "close").then(([code]) => code as number)
    onTestFinished(() => {
      // A receiver that accepted everything would keep running.
      if (bare.exitCode === null && bare.signalCode === null) process.kill(-bare.pid!, "SIGKILL")
    })
    if (name === "PHP") {
      // PHP's built-in server starts nevertheless, and refuses each request.
      const signed = { "x-service-signature": signDelivery(bytes("{}"), [""], now()) }
      const ask = () => fetch(`http://127.0.0.1:${other}/`, { method: "POST", body: "{}", headers: signed })
      await vi.waitUntil(
        () =>
          ask().then(
            ({ status }) => status === 500,
            () => false,
          ),
        { timeout: 100_000 },
      )
      process.kill(-bare.pid!, "SIGKILL")
      await ended
    } else {
      expect(await ended).not.toBe(0)
      expect(said).not.toContain("ready")
    }
    expect(said).toContain(REFUSAL)
  })
})

const REFUSAL = "Set SIGNING_SECRET: without it, anybody could sign."

it.each([
  ["receiver.mjs", "if (!secret)", "createServer("],
  ["receiver.py", "if not SECRET:", "ThreadingHTTPServer(("],
  ["receiver.go", "if len(secret) == 0 {", "net.Listen("],
  ["receiver.php", "if ($secret === '')", "if (!verified("],
])("%s checks that its secret is set before it accepts anything", (file, check, takes) => {
  const text = readFileSync(here(file), "utf8")
  const at = text.indexOf(check)
  expect(at).toBeGreaterThan(0)
  expect(text.slice(at)).toMatch(new RegExp(`^[^\\n]*\\s[\\s\\S]{0,120}${REFUSAL}`))
  expect(text.lastIndexOf(takes)).toBeGreaterThan(at)
})
