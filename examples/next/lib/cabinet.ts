/** One cabinet per process, opened on first use. Next.js reloads modules during development; this one stays open. */
import { type Cabinet, openCabinet } from "data-cabinet"

const kept = globalThis as { cabinet?: Promise<Cabinet> }

export const cabinet = (): Promise<Cabinet> =>
  (kept.cabinet ??= openCabinet({
    databaseUrl: process.env["DATABASE_URL"],
    baseUrl: process.env["BASE_URL"] ?? "http://127.0.0.1:3000/data",
    delivery: false, // where processes come and go, leave deliveries to one `cabinet worker`
    maxConnections: 4,
  }))
