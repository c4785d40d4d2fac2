/** One cabinet per process, opened on first use. Next.js reloads modules during development; this one stays open. */
import { type Cabinet, openCabinet } from "data-cabinet"

/** The address at which people see the app. */
export const site = process.env["SITE"] ?? "http://127.0.0.1:3000"

const kept = globalThis as { cabinet?: Promise<Cabinet> }

export const cabinet = (): Promise<Cabinet> =>
  (kept.cabinet ??= openCabinet({
    databaseUrl: process.env["DATABASE_URL"],
    baseUrl: `${site}/data`,
    delivery: false, // where processes come and go, leave deliveries to one `cabinet worker`
    maxConnections: 4,
  }))
