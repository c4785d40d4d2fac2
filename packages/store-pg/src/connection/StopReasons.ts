/**
 * Why a server that this process started has stopped. A failed connection shows only that nothing listens there; the
 * reason is in the server's log.
 */
const reasons = new Map<string, () => string | undefined>()

/** Where a server listens: its socket's directory, or the loopback if that is empty. */
interface Place {
  readonly socketDir: string
  readonly port: number
}

/** Gives failed connections to this server a reason, until the returned function is called. */
export const addStopReason = ({ socketDir, port }: Place, why: () => string | undefined): (() => void) => {
  const address = socketDir === "" ? `127.0.0.1:${port}` : `${socketDir}/.s.PGSQL.${port}`
  reasons.set(address, why)
  return () => void (reasons.get(address) === why && reasons.delete(address))
}

/** In words that end the sentence "the database cannot be used: …"; undefined for any other failure or server. */
export const stopReasonOf = (cause: unknown): string | undefined => {
  if (reasons.size === 0 || !(cause instanceof Error) || !("address" in cause)) return undefined
  const { address, port } = cause as { readonly address: unknown; readonly port?: unknown }
  return reasons.get(port === undefined ? String(address) : `${String(address)}:${String(port)}`)?.()
}
