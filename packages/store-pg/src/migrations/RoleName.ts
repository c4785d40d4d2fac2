/** The names of a cabinet's roles. Roles belong to the whole cluster, so they include the database's. */
import { hash } from "node:crypto"

export const roleName = (database: string, kind: "reader" | "author" | "reports"): string => {
  const whole = `cabinet_${database}_${kind}`
  if (Buffer.byteLength(whole) <= 63) return whole
  return `cabinet_${hash("sha256", database).slice(0, 32)}_${kind}`
}
