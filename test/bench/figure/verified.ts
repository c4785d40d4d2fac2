/** Intake of JSON from a sender that is verified by an HMAC, against the same without. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { cabinetCommand, ourServer } from "../contestant.ts"
import type { Figure } from "../figure.ts"
import { orderJson, postRequest, SIGNATURE } from "../load/request.ts"
import { alternate, faster, standingsOf } from "../rounds.ts"

const SECRET = "a secret that GitHub was given"

/** A file, because the command takes no secret as an argument. */
const withSecretFile = async <A>(run: (file: string) => Promise<A>): Promise<A> => {
  const folder = mkdtempSync(join(tmpdir(), "dc-bench-secret-"))
  try {
    const file = join(folder, "secret")
    writeFileSync(file, SECRET)
    return await run(file)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

export const verified: Figure = {
  name: "intake-verified",
  title: "Intake from a verified sender",
  caption:
    "Both are ours, two sources of one server, and are sent the JSON of intake-json. verified: `source set --verify github`, and each request has its own HMAC-SHA256 of its body.",
  measure: async (bench) => {
    const url = await bench.cluster.database("ours")
    const ours = await ourServer(url)
    const added = (name: string) =>
      cabinetCommand(url, "source", "add", name) as Promise<{ id: number; intake_path: string }>
    const [plain, signed] = [await added("Unverified"), await added("Verified")]
    await withSecretFile((file) =>
      cabinetCommand(url, "source", "set", String(signed.id), "--verify", "github", "--verify-secret-file", file),
    )
    const { pid, port } = ours
    const requestTo = (path: string, headers?: Readonly<Record<string, string>>) => [
      postRequest(path, "application/json", orderJson(), headers),
    ]
    const entrants = [
      { name: "not verified", pid, port, requests: requestTo(plain.intake_path) },
      {
        name: "verified",
        pid,
        port,
        requests: requestTo(signed.intake_path, { "x-hub-signature-256": `sha256=${SIGNATURE}` }),
        secret: SECRET,
      },
    ]
    const rounds = await alternate(bench, entrants, { connections: 64, rate: null })
    await ours.stop()
    const work = "intake, one JSON, its sender verified by an HMAC"
    const goal = faster(rounds, "verified", "not verified", { work, atLeast: 0.9, other: "without" })
    return { goals: [goal], standings: standingsOf(rounds, "requests/s") }
  },
}
