/** The POST of a job of the yardsticks: the same JSON body to the same receiver, on kept-alive connections; unsigned. */
import { Pool } from "undici"

export const CONCURRENCY = 32

const url = new URL(process.env["RECEIVER_URL"] ?? "")
const pool = new Pool(url.origin, { connections: CONCURRENCY, pipelining: 1 })

export const post = async (payload: unknown): Promise<void> => {
  const { statusCode, body } = await pool.request({
    path: url.pathname,
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(payload),
  })
  await body.dump()
  if (statusCode < 200 || statusCode > 299) throw new Error(`answered ${statusCode}`)
}
