/** `node clientRuntimes.ts FOLDER`: runs the client's program against a cabinet on Node, and on the Deno and Bun in FOLDER. */
import { execFile } from "node:child_process"
import { writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { isDeepStrictEqual, promisify } from "node:util"
import { signDelivery } from "@data-cabinet/core/delivery/Signature"
import { type Cabinet, openCabinet } from "data-cabinet"
import { rolldown } from "rolldown"
import { type ClientTask, WELL } from "./clientProgram.ts"

const folder = process.argv[2]!
const run = promisify(execFile)
const program = fileURLToPath(new URL("clientProgram.ts", import.meta.url))
const installed = (name: string) => join(folder, "node_modules", ".bin", name)

/** The arguments of each runtime before the file. Deno needs no permission except for the network. */
const RUNTIMES: ReadonlyArray<readonly [name: string, command: string, words: ReadonlyArray<string>]> = [
  ["Node", process.execPath, []],
  ["Deno", installed("deno"), ["run", "--allow-net=127.0.0.1", "--no-remote"]],
  ["Bun", installed("bun"), ["run"]],
]

const file = join(folder, "program.mjs")
const bundle = await rolldown({
  input: program,
  platform: "neutral",
  resolve: { conditionNames: ["source", "import"] },
})
await bundle.write({ file, format: "esm" })
await bundle.close()

const opened = Promise.withResolvers<Cabinet>()
const server = createServer((request, response) => void opened.promise.then((it) => it.nodeHandler(request, response)))
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const cabinet = await openCabinet({ dataDir: join(folder, "data"), baseUrl, delivery: false })
opened.resolve(cabinet)
const { key } = await cabinet.keys.create({ name: "runtimes" })
const { token } = await cabinet.tokens.create({ name: "runtimes", role: "owner" })
const signed = { body: '{"n":0.10}', secret: "a secret" }
const header = signDelivery(Buffer.from(signed.body), [signed.secret], Math.floor(Date.now() / 1_000))

/** Each runtime gets its own source, so that its submissions are not repeats. */
const taskOf = async (name: string): Promise<ClientTask> => {
  const { intakeUrl, table } = await cabinet.sources.create({ name })
  const body = '{"digits":1234567890123456789012345,"who":"Eve"}'
  await fetch(intakeUrl, { method: "POST", headers: { "content-type": "application/json" }, body })
  return { baseUrl, key, token, intakeUrl, table: [table!.schema, table!.name], delivery: { ...signed, header } }
}

for (const [name, command, words] of RUNTIMES) {
  const task = await taskOf(name)
  const main = join(folder, `${name}.mjs`)
  await writeFile(
    main,
    `import { useClient } from "./program.mjs"\nconsole.log(JSON.stringify(await useClient(${JSON.stringify(task)})))\n`,
  )
  const { stdout: version } = await run(command, ["--version"])
  const { stdout } = await run(command, [...words, main], { timeout: 100_000 })
  const said = JSON.parse(stdout) as ReadonlyArray<string>
  const isWell = isDeepStrictEqual(said, WELL)
  process.stdout.write(`${isWell ? "ok    " : "FAILED"} ${name} ${version.split("\n")[0]!}\n`)
  if (isWell) continue
  process.stdout.write(`${said.join("\n")}\n`)
  process.exitCode = 1
}
server.close()
server.closeAllConnections()
await cabinet.close()
