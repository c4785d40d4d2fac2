/** Intake to a source with a thousand delivery addresses: each with its own filter, compared with none having one. */
import type { Cluster } from "../cluster.ts"
import { cabinetCommand, ourServer } from "../contestant.ts"
import type { Figure } from "../figure.ts"
import { postRequest, SLOT } from "../load/request.ts"
import { alternate, standingsOf } from "../rounds.ts"

const ADDRESSES = 1_000
const CONNECTIONS = 16

/** Copies of an address of a source: with a filter, the nth for the events of shop n. */
const copies = (cluster: Cluster, url: string, address: number, source: number) =>
  cluster.run(
    url,
    `WITH copy AS (
       INSERT INTO cabinet.address (url, secret, every_source, filters)
       SELECT a.url, a.secret, false, CASE WHEN a.filters IS NOT NULL THEN
         json_build_array(json_build_object('fc', 'shop', 'fo', 'eq', 'fv', n::text)) END
       FROM cabinet.address a, generate_series(1, ${ADDRESSES - 1}) n WHERE a.id = ${address} RETURNING id)
     INSERT INTO cabinet.address_source (address_id, source_id) SELECT id, ${source} FROM copy`,
  )

/** Of ten shops, each with an address. */
const events = Array.from(
  { length: 10 },
  (_, n) =>
    `{"order":"${SLOT}","shop":${n * 100},"customer":"Ada Lovelace","total":1249.50,"currency":"EUR","paid":true}`,
)

export const filters: Figure = {
  name: "intake-filters",
  title: "Intake to a source with a thousand addresses",
  caption:
    "All are ours, three sources of one server that delivers nothing. one address: each event is due to it. a filter each: a thousand addresses, of which each takes the events of one shop, so each event is due to one. no filters: each event is due to a thousand. It is not a goal.",
  measure: async (bench) => {
    const url = await bench.cluster.database("ours")
    const first = await ourServer(url, ["--no-delivery"])
    const networks = ["--allowed-networks", "127.0.0.0/8"]
    const sourceWith = async (name: string, addresses: number, where: ReadonlyArray<string> = []) => {
      const source = (await cabinetCommand(url, "source", "add", name)) as { id: number; intake_path: string }
      const words = ["address", "add", "http://127.0.0.1:9/", "--source", String(source.id), ...networks, ...where]
      const { id } = (await cabinetCommand(url, ...words)) as { id: number }
      if (addresses > 1) await copies(bench.cluster, url, id, source.id)
      return { name, path: source.intake_path }
    }
    const sources = [
      await sourceWith("one address", 1),
      await sourceWith("a filter each", ADDRESSES, ["--where", "shop=0"]),
      await sourceWith("no filters", ADDRESSES),
    ]
    await first.stop()
    // The server has cached the source's addresses, and those above were not added by a command.
    const { pid, port, stop } = await ourServer(url, ["--no-delivery"])
    const entrants = sources.map(({ name, path }) => ({
      name,
      pid,
      port,
      requests: events.map((event) => postRequest(path, "application/json", event)),
    }))
    const rounds = await alternate({ ...bench, runIn: bench.sized(0.5, 3) }, entrants, {
      connections: CONNECTIONS,
      rate: null,
    })
    await stop()
    return { goals: [], standings: standingsOf(rounds, "requests/s") }
  },
}
