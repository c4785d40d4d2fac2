/** Every receiver whose language is installed here takes what is signed as we sign, and nothing else. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { signDelivery } from "@data-cabinet/core/delivery/Signature"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
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
      stdio: ["ignore", "pipe", "ignore"],
      detached: true,
    })
    child.stdout!.on("data", (text: Buffer) => (printed += text.toString()))
    // Any answer will do: it listens.
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

  it.each(vectors.vectors.filter(({ body }) => body !== "").map(({ name, body }) => [name, body] as const))(
    "takes the published body: %s",
    async (_name, body) => {
      expect(await post(body, signDelivery(bytes(body), [SECRET], now()))).toBe(204)
      expect(await post(body, signDelivery(bytes(body), ["whsec_new", SECRET], now()))).toBe(204)
    },
  )

  // Each request of PHP's is a process of its own: there it is the database that remembers.
  it.each(name === "PHP" ? [] : ["the same id"])("does nothing the second time for %s", async () => {
    const of = (id: number) =>
      `{"id":${id},"type":"event.received","created_at":"2026-11-21T09:30:00Z","source":{"id":1,"name":"Twice"},"data":{"id":${id}}}`
    for (const id of [901, 901, 902, 901, 903]) {
      expect(await post(of(id), signDelivery(bytes(of(id)), [SECRET], now()))).toBe(204)
    }
    await vi.waitUntil(() => printed.includes("event 903 of Twice"), { timeout: 60_000 })
    expect(printed.match(/event \d+ of Twice/g)).toEqual([
      "event 901 of Twice",
      "event 902 of Twice",
      "event 903 of Twice",
    ])
  })

  it("refuses another secret, other bytes, an old or a missing time, and no signature", async () => {
    const body = vectors.vectors[0]!.body
    const good = signDelivery(bytes(body), [SECRET], now())
    expect(await post(body, signDelivery(bytes(body), ["other"], now()))).toBe(401)
    expect(await post(`${body} `, good)).toBe(401)
    expect(await post(body, signDelivery(bytes(body), [SECRET], now() - 400))).toBe(401)
    expect(await post(body, signDelivery(bytes(body), [SECRET], now() + 400))).toBe(401)
    expect(await post(body, good.replace(/^t=\d+,/, ""))).toBe(401)
    expect(await post(body, "")).toBe(401)
  })
})
