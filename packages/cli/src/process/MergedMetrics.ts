/**
 * The metrics of several processes in one response: each sample gets the label of its process, and the samples of one metric
 * are adjacent, as Prometheus' text format requires. Nothing is summed: Prometheus itself handles sums best,
 * and counters that restart with a replaced process.
 */
export interface ProcessMetrics {
  /** Null for samples without a label. */
  readonly worker: string | null
  readonly text: string
}

const COMMENT = /^# (?:HELP|TYPE) (\S+) /

/** Puts the label first: `name{a="b"} 1` becomes `name{worker="1",a="b"} 1`. */
const labelled = (line: string, worker: string): string => {
  const [, name = "", rest = ""] = /^([^\s{]+)(.*)$/s.exec(line) ?? []
  const label = `worker="${worker}"`
  if (rest.startsWith("{}")) return `${name}{${label}}${rest.slice(2)}`
  return rest.startsWith("{") ? `${name}{${label},${rest.slice(1)}` : `${name}{${label}}${rest}`
}

export const mergeMetrics = (all: ReadonlyArray<ProcessMetrics>): string => {
  const families = new Map<string, { readonly head: Set<string>; readonly samples: Array<string> }>()
  for (const { worker, text } of all) {
    let family = { head: new Set<string>(), samples: new Array<string>() }
    for (const line of text.split("\n")) {
      if (line === "") continue
      const name = COMMENT.exec(line)?.[1]
      if (name === undefined) {
        family.samples.push(worker === null ? line : labelled(line, worker))
        continue
      }
      const known = families.get(name)
      family = known ?? { head: new Set(), samples: [] }
      if (known === undefined) families.set(name, family)
      family.head.add(line)
    }
  }
  return [...families.values()].flatMap(({ head, samples }) => [...head, ...samples, ""]).join("\n")
}
