/**
 * A whole cabinet over a real PostgreSQL and a real HTTP server on the loopback: intake and API, as `serve` composes
 * them.
 */
import { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import { type NewSource, Sources } from "@data-cabinet/core/source/Sources"
import { Listener } from "@data-cabinet/http-node/server/Listener"
import { ManagedRuntime } from "effect"
import type { ReceivedResponse } from "../../packages/http-node/test/support/DescribedResponse.ts"
import { testServerLayer } from "./testCabinet.ts"

export interface ApiCabinetOptions {
  readonly apiRate?: number
  /** Requests a minute; 0 for no limit. */
  readonly intakeRate?: number
}

const served = (url: string, { apiRate = 100_000, intakeRate = 0 }: ApiCabinetOptions) =>
  testServerLayer(url, { baseUrl: "https://orders.cabinet.test", settings: { apiRate, intakeRate, reading: "on" } })

/** Serves the cabinet of a database. Call it twice for two servers of one cabinet. */
export const apiCabinet = async (url: string, options: ApiCabinetOptions = {}) => {
  const runtime = ManagedRuntime.make(served(url, options))
  const { port } = await runtime.runPromise(Listener)
  const base = `http://127.0.0.1:${port}`
  return {
    base,
    run: runtime.runPromise,
    key: async (name = "test") => (await runtime.runPromise(ApiKeys.use((keys) => keys.issue(name)))).key,
    source: (name: string, settings: Omit<NewSource, "name"> = {}) =>
      runtime.runPromise(Sources.use((sources) => sources.create({ name, ...settings }))),
    /** Sends a body to a source and returns the JSON of the response. */
    send: async (secret: string, body: string, contentType = "application/json") => {
      const response = await fetch(`${base}/webhook/${secret}`, {
        method: "POST",
        body,
        headers: { "content-type": contentType },
      })
      return (await response.json()) as any
    },
    /** Requests a path of the API below /api/v1/. */
    ask: async (path: string, key: string, accept = "*/*"): Promise<ReceivedResponse & { readonly json: any }> => {
      const headers = { "x-api-key": key, accept }
      const response = await fetch(`${base}/api/v1/${path}`, { redirect: "manual", headers })
      const answer = { status: response.status, headers: response.headers, text: await response.text() }
      const isJson = response.headers.get("content-type")?.startsWith("application/json") === true
      return { ...answer, json: (isJson && answer.text !== "" ? JSON.parse(answer.text) : undefined) as any }
    },
    close: () => runtime.dispose(),
  }
}

export type ApiCabinet = Awaited<ReturnType<typeof apiCabinet>>
