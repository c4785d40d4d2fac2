/** A change of single headers of an address: the others stay, and the caller need not know their values. */
import type { RequestHeader } from "../network/RequestHeader.ts"

export interface HeaderChange {
  /** Added; they replace headers with the same names. */
  readonly setHeaders?: ReadonlyArray<RequestHeader>
  /** The names of headers to remove. A name that the address does not have changes nothing. */
  readonly removeHeaders?: ReadonlyArray<string>
}

type Named<V> = ReadonlyArray<readonly [name: string, value: V]>

const lower = (name: string): string => name.toLowerCase()

/** The unchanged headers. Names are compared without case. */
export const keptHeaders = <V>(headers: Named<V>, { setHeaders = [], removeHeaders = [] }: HeaderChange): Named<V> => {
  const changed = new Set([...setHeaders.map(([name]) => lower(name)), ...removeHeaders.map(lower)])
  return headers.filter(([name]) => !changed.has(lower(name)))
}

/** All headers after the change; `set` has the new ones, and a replaced one keeps its place. */
export const mergeHeaders = <V>(headers: Named<V>, set: Named<V>, removed: ReadonlyArray<string> = []): Named<V> => {
  const gone = new Set(removed.map(lower))
  const fresh = new Map(set.map((header) => [lower(header[0]), header]))
  const merged = headers.flatMap((header) => {
    const name = lower(header[0])
    if (gone.has(name)) return []
    const replacement = fresh.get(name)
    fresh.delete(name)
    return [replacement ?? header]
  })
  return [...merged, ...fresh.values()]
}
