/** Resident memory of the server: under constant load after its first part, and while a large file is uploaded to it. */
import { request } from "node:http"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { cabinetCommand, type OurServer, ourServer } from "../contestant.ts"
import type { Bench, Figure } from "../figure.ts"
import { load } from "../load/load.ts"
import { residentBytes } from "../processCpu.ts"
import { oursAt } from "./intakeJson.ts"

const MB = 1_048_576

/** Requests per second of a busy cabinet, far below its maximum. */
const RATE = 200

/** Samples the resident memory of a process every `millis` until stopped. */
const watch = (pid: number, millis: number) => {
  const seen: Array<number> = []
  const timer = setInterval(() => seen.push(residentBytes(pid)), millis)
  return { seen, stop: () => clearInterval(timer) }
}

const underLoad = async (bench: Bench, ours: OurServer) => {
  const seconds = bench.sized(3, 60, 3600)
  const first = bench.sized(2, 60)
  const { requests } = oursAt(ours)
  const order = { port: ours.port, requests, connections: 16, rate: RATE, warmUp: first }
  const { seen, stop } = watch(ours.pid, 250)
  await load({ ...order, seconds }, ours, bench.cluster.cpu)
  stop()
  const rest = seen.slice(Math.floor(seen.length * (first / (first + seconds))))
  // The maximum of each half: at this rate V8 keeps garbage for a quarter of an hour, so a lower value or a shorter
  // part would depend on the moment within that period.
  const half = Math.floor(rest.length / 2)
  const [early, late] = [Math.max(...rest.slice(0, half)), Math.max(...rest.slice(half))]
  return {
    goals: [
      {
        work: `most resident memory, ${RATE} requests/s, second half of ${seconds} s after the first ${first} s`,
        goal: "grows ≤ 2 %",
        // A ratio of 1 is no growth; within 5 % would be too kind here.
        atMost: 1.02 / 1.05,
        ratios: [late / early],
        cpuRatios: [],
      },
    ],
    standings: [
      { contestant: "most in the first half", value: early / MB, unit: "MB" },
      { contestant: "most in the second half", value: late / MB, unit: "MB" },
    ],
  }
}

const BOUNDARY = "bench-boundary"

/** A form with a CSV of this many bytes, generated while it is sent. */
function* form(bytes: number) {
  yield `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="orders.csv"\r\nContent-Type: text/csv\r\n\r\n`
  yield "order,customer,email,city,total,currency,note\n"
  let n = 0
  for (let made = 0; made < bytes;) {
    let piece = ""
    while (piece.length < 65_536) {
      piece += `${n++},Ada Lovelace,ada${n}@example.com,Berlin,1249.50,EUR,"Please ring twice, the bell is broken; the parcel may stay with the neighbours on the second floor, as it did last time"\n`
    }
    made += piece.length
    yield piece
  }
  yield `\r\n--${BOUNDARY}--\r\n`
}

const upload = (ours: OurServer, source: number, token: string, bytes: number) =>
  new Promise<void>((resolve, reject) => {
    const sent = request(
      {
        port: ours.port,
        host: "127.0.0.1",
        method: "POST",
        path: `/upload/${source}?format=csv`,
        headers: { authorization: `Bearer ${token}`, "content-type": `multipart/form-data; boundary=${BOUNDARY}` },
      },
      (answer) => {
        let text = ""
        answer.on("data", (chunk: Buffer) => (text += chunk.toString()))
        answer.on("end", () =>
          (answer.statusCode ?? 500) < 300 ? resolve() : reject(new Error(`upload answered ${text.slice(0, 500)}`)),
        )
      },
    )
    sent.on("error", reject)
    pipeline(Readable.from(form(bytes)), sent).catch(reject)
  })

const underImport = async (bench: Bench, url: string, ours: OurServer) => {
  const bytes = bench.sized(2, 100, 1024) * MB
  const source = (await cabinetCommand(url, "source", "add", "Files")) as { id: number }
  const uploader = (await cabinetCommand(url, "token", "add", "bench", "--role", "uploader")) as { token: string }
  const idle = residentBytes(ours.pid)
  const { seen, stop } = watch(ours.pid, 50)
  const began = Date.now()
  await upload(ours, source.id, uploader.token, bytes)
  const left = async () =>
    Number(
      (await bench.cluster.run(url, "SELECT count(*) AS n FROM cabinet.import WHERE state = 'accepting'"))[0]!["n"],
    )
  while ((await left()) > 0) await new Promise((resolve) => setTimeout(resolve, 200))
  stop()
  const seconds = (Date.now() - began) / 1000
  const above = (Math.max(...seen) - idle) / MB
  return {
    goals: [
      {
        work: `an import of ${bytes / MB} MB, most memory above idle, as a part of 150 MB`,
        goal: "≤ 150 MB above idle",
        atMost: 1,
        ratios: [above / 150],
        cpuRatios: [],
      },
    ],
    standings: [
      { contestant: "idle before the import", value: idle / MB, unit: "MB" },
      { contestant: "most above that", value: above, unit: "MB" },
      { contestant: "import", value: bytes / MB / seconds, unit: "MB/s" },
    ],
  }
}

export const memory: Figure = {
  name: "memory",
  title: "Memory",
  caption:
    "The server's resident memory, sampled throughout. Load: the JSON of intake-json at an even rate. Import: a CSV uploaded over HTTP, from the first byte until its last row is accepted.",
  measure: async (bench) => {
    const url = await bench.cluster.database("ours")
    const ours = await ourServer(url)
    const loaded = await underLoad(bench, ours)
    const imported = await underImport(bench, url, ours)
    await ours.stop()
    return {
      goals: [...loaded.goals, ...imported.goals],
      standings: [...loaded.standings, ...imported.standings],
    }
  },
}
