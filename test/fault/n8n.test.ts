/**
 * A real n8n with the nodes as they are published: a workflow sends each event of one source to another source, while n8n is
 * killed and started again. Nothing is skipped, the order stays, and only what a kill interrupted comes twice. A trial;
 * `.ci/n8n whole` fetches n8n, and N8N_KILLS is how often it is killed.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, it } from "vitest"
import { endAll, newHome } from "../support/cabinetProcess.ts"
import { buildNodes } from "../support/n8nNodes.ts"
import { consumerEnv, freePorts } from "../support/packed.ts"
import { testDatabase, type TestDatabase } from "../support/postgres.ts"
import { ownerRole } from "../support/postgresAdmin.ts"

const KILLS = Number(process.env["N8N_KILLS"] ?? "2")

/** Events per life of n8n. */
const EVENTS = 200

const whole = fileURLToPath(new URL("../../node_modules/.data-cabinet/n8n-whole/", import.meta.url))
const program = join(whole, "node_modules/n8n/bin/n8n")

const home = newHome()
let dir: string
let ours: TestDatabase
let its: TestDatabase
let env: Record<string, string>
let running: ChildProcess | undefined
beforeAll(async () => {
  if (!existsSync(join(whole, "done"))) throw new Error("There is no n8n here: fetch it with .ci/n8n and .ci/n8n whole")
  dir = mkdtempSync(join(tmpdir(), "dc-n8n-"))
  ours = await testDatabase()
  its = await testDatabase({ empty: true })
  const built = buildNodes()
  for (const part of ["package.json", "dist"])
    cpSync(join(built, part), join(dir, ".n8n/custom/n8n-nodes-data-cabinet", part), { recursive: true })
  rmSync(built, { recursive: true })
  const [port] = await freePorts(1)
  env = {
    N8N_USER_FOLDER: dir,
    N8N_ENCRYPTION_KEY: "for this trial",
    N8N_PORT: String(port),
    N8N_LISTEN_ADDRESS: "127.0.0.1",
    N8N_DIAGNOSTICS_ENABLED: "false",
    N8N_VERSION_NOTIFICATIONS_ENABLED: "false",
    N8N_TEMPLATES_ENABLED: "false",
    N8N_RUNNERS_ENABLED: "false",
    DB_TYPE: "postgresdb",
    DB_POSTGRESDB_HOST: its.socketDir,
    DB_POSTGRESDB_DATABASE: its.name,
    DB_POSTGRESDB_USER: ownerRole,
  }
})
afterAll(async () => {
  running?.kill("SIGKILL")
  await endAll()
  await Promise.all([ours, its].map((database) => database?.drop()))
  rmSync(dir, { recursive: true, force: true })
})

const n8n = async (...args: ReadonlyArray<string>): Promise<void> => {
  await promisify(execFile)(process.execPath, [program, ...args], { env: consumerEnv(env) })
}

/** Starts n8n, and waits until its workflow is active. */
const startN8n = async (): Promise<void> => {
  const child = spawn(process.execPath, [program, "start"], { env: consumerEnv(env) })
  running = child
  let said = ""
  await new Promise<void>((resolve, reject) => {
    const collect = (chunk: Buffer) => {
      said += chunk.toString()
      if (/Activated workflow "Copy"/.test(said)) resolve()
      if (/Activation of workflow .* did fail/.test(said)) reject(new Error(said))
    }
    child.stdout.on("data", collect)
    child.stderr.on("data", collect)
    child.once("close", (code) => reject(new Error(`n8n ended with ${code}: ${said}`)))
  })
}

const killN8n = async (): Promise<void> => {
  const closed = once(running!, "close")
  running!.kill("SIGKILL")
  await closed
}

const credentials = { dataCabinetApi: { id: "cabinet0credential", name: "Data Cabinet API" } }

const node = (name: string, type: string, position: number, parameters: object) => ({
  id: `node-${type}`,
  name,
  type: `CUSTOM.${type}`,
  typeVersion: 1,
  position: [position, 0],
  parameters,
  credentials,
})

/** Imports the credential and the workflow, as n8n exports them, and activates it. */
const setUp = async (baseUrl: string, token: string, from: number, to: string): Promise<void> => {
  const files = { credentials: join(dir, "credentials.json"), workflow: join(dir, "workflow.json") }
  const credential = { ...credentials.dataCabinetApi, type: "dataCabinetApi", data: { baseUrl, apiKey: token } }
  writeFileSync(files.credentials, JSON.stringify([credential]))
  const workflow = {
    id: "copyAllEvents000",
    name: "Copy",
    active: false,
    nodes: [
      node("Trigger", "dataCabinetTrigger", 0, {
        mode: "live",
        source: String(from),
        start: "beginning",
        options: { size: 20 },
      }),
      node("Send", "dataCabinet", 200, { resource: "event", operation: "send", intakeUrl: to, content: "item" }),
    ],
    connections: { Trigger: { main: [[{ node: "Send", type: "main", index: 0 }]] } },
    settings: { executionOrder: "v1" },
  }
  writeFileSync(files.workflow, JSON.stringify([workflow]))
  await n8n("import:credentials", `--input=${files.credentials}`)
  await n8n("import:workflow", `--input=${files.workflow}`)
  await n8n("update:workflow", "--id=copyAllEvents000", "--active=true")
}

it(`a workflow copies every event in order through ${KILLS} kills of n8n`, async () => {
  const environment = { DATABASE_URL: ours.url, CABINET_INTAKE_RATE: "0" }
  const server = await home.serve([], environment)
  const command = async (...args: ReadonlyArray<string>) => (await home.cabinet(args, environment)).stdout.trim()
  const add = async (name: string) => {
    const source = JSON.parse(await command("source", "add", name, "--json")) as Source
    return { id: source.id, intake: server.baseUrl + new URL(source.intake_url).pathname }
  }
  const orders = await add("Orders")
  const copies = await add("Copies")
  const token = await command("token", "add", "n8n", "--role", "viewer", "--get", "token")
  await setUp(server.baseUrl, token, orders.id, copies.intake)

  const sent = { count: 0 }
  const send = async (count: number) => {
    for (let n = 0; n < count; n++) {
      const body = JSON.stringify({ n: ++sent.count })
      expect((await fetch(orders.intake, { method: "POST", body })).status).toBe(200)
    }
  }
  const copied = () =>
    ours.run(`SELECT id, repeat_of, (payload->'payload'->>'n')::int AS n FROM cabinet.event
        WHERE source_id = ${copies.id} ORDER BY id`)
  for (let life = 0; life <= KILLS; life++) {
    await startN8n()
    const sending = send(EVENTS)
    if (life < KILLS) await expect.poll(async () => (await copied()).length).toBeGreaterThan(sent.count / 2)
    if (life < KILLS) await killN8n()
    await sending
  }
  await expect.poll(async () => new Set((await copied()).map(({ n }) => n)).size).toBe(sent.count)
  const all = await copied()
  const firsts = all.filter((row) => row["repeat_of"] === null).map(({ n }) => n)
  expect(firsts).toEqual(Array.from({ length: sent.count }, (_, n) => n + 1))
  const twice = all.length - firsts.length
  console.log(`${sent.count} events through ${KILLS} kills: ${twice} came twice`)
  await killN8n()
}, 1_800_000)

interface Source {
  readonly id: number
  readonly intake_url: string
}
