/**
 * A control group as small as the smallest machines are: all memory and CPU that its processes may use together, page cache
 * included. Linux only, and as root.
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const ROOT = "/sys/fs/cgroup"
const PERIOD_MICROS = 100_000

export interface SmallMachine {
  /** `NODE_OPTIONS` with which a program enters the group before it does anything else. */
  readonly nodeOptions: string
  /** How many processes the kernel has ended for want of memory. */
  readonly killed: () => number
  readonly mostBytes: () => number
  readonly remove: () => void
}

interface Limits {
  readonly bytes: number
  readonly cores: number
}

const entering = (files: ReadonlyArray<string>): string => {
  const writes = files.map((file) => `writeFileSync("${file}",String(process.pid))`).join(";")
  return `--import=data:text/javascript,${encodeURIComponent(`import{writeFileSync}from"node:fs";${writes}`)}`
}

/** Each controller has a tree of its own. The cores are the group's, whatever else runs. */
const separate = (name: string, { bytes, cores }: Limits): SmallMachine => {
  const [memory, cpu] = [join(ROOT, "memory", name), join(ROOT, "cpu", name)]
  for (const dir of [memory, cpu]) mkdirSync(dir, { recursive: true })
  writeFileSync(join(memory, "memory.limit_in_bytes"), String(bytes))
  writeFileSync(join(cpu, "cpu.cfs_period_us"), String(PERIOD_MICROS))
  writeFileSync(join(cpu, "cpu.cfs_quota_us"), String(cores * PERIOD_MICROS))
  writeFileSync(join(cpu, "cpu.shares"), "262144")
  return {
    nodeOptions: entering([join(memory, "cgroup.procs"), join(cpu, "cgroup.procs")]),
    killed: () => Number(/^oom_kill (\d+)/m.exec(readFileSync(join(memory, "memory.oom_control"), "utf8"))![1]),
    mostBytes: () => Number(readFileSync(join(memory, "memory.max_usage_in_bytes"), "utf8")),
    remove: () => [memory, cpu].filter((dir) => existsSync(dir)).forEach((dir) => rmdirSync(dir)),
  }
}

/** All controllers have one tree. */
const unified = (name: string, { bytes, cores }: Limits): SmallMachine => {
  const dir = join(ROOT, name)
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, "memory.max"), String(bytes))
  writeFileSync(join(dir, "cpu.max"), `${cores * PERIOD_MICROS} ${PERIOD_MICROS}`)
  writeFileSync(join(dir, "cpu.weight"), "10000")
  return {
    nodeOptions: entering([join(dir, "cgroup.procs")]),
    killed: () => Number(/^oom_kill (\d+)/m.exec(readFileSync(join(dir, "memory.events"), "utf8"))![1]),
    mostBytes: () => Number(readFileSync(join(dir, "memory.peak"), "utf8")),
    remove: () => rmdirSync(dir),
  }
}

export const smallMachine = (limits: Limits): SmallMachine => {
  const name = `data-cabinet-${process.pid}`
  return existsSync(join(ROOT, "cgroup.controllers")) ? unified(name, limits) : separate(name, limits)
}
