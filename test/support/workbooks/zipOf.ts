/** Zip archives in the ways that programs write them. */
import { crc32, deflateRawSync } from "node:zlib"

export interface ZipWays {
  readonly isStored?: boolean
  /** Sizes in the 64-bit fields that large archives need. */
  readonly is64?: boolean
  /** Sizes after each part instead of before it, as streaming programs write them. */
  readonly hasDescriptors?: boolean
  readonly before?: string
  readonly comment?: string
  /** The size and the checksum that the directory declares for every part. */
  readonly claims?: number
  readonly crc?: number
  readonly method?: number
  readonly flags?: number
}

const header = (size: number, fields: ReadonlyArray<readonly [at: number, bytes: 2 | 4, value: number]>): Buffer => {
  const bytes = Buffer.alloc(size)
  for (const [at, width, value] of fields) bytes.writeUIntLE(value, at, width)
  return bytes
}

const extra64 = (values: ReadonlyArray<number>): Buffer => {
  const bytes = Buffer.alloc(4 + values.length * 8)
  bytes.writeUInt16LE(1, 0)
  bytes.writeUInt16LE(values.length * 8, 2)
  for (const [n, value] of values.entries()) bytes.writeBigUInt64LE(BigInt(value), 4 + n * 8)
  return bytes
}

export type ZipParts = ReadonlyArray<readonly [name: string, content: Buffer | string]>

export const zipOf = (parts: ZipParts, ways: ZipWays = {}): Buffer => {
  const bodies: Array<Buffer> = [Buffer.from(ways.before ?? "")]
  const directory: Array<Buffer> = []
  let at = 0
  for (const [name, text] of parts) {
    const content = Buffer.from(text as string)
    const packed = ways.isStored === true ? content : deflateRawSync(content)
    const method = ways.method ?? (ways.isStored === true ? 0 : 8)
    const flags = (ways.hasDescriptors === true ? 8 : 0) | (ways.flags ?? 0x800)
    const crc = ways.crc ?? crc32(content)
    const size = ways.claims ?? content.length
    const path = Buffer.from(name)
    const isLate = ways.hasDescriptors === true
    const local = header(30, [
      [0, 4, 0x04034b50],
      [4, 2, 20],
      [6, 2, flags],
      [8, 2, method],
      [14, 4, isLate ? 0 : crc],
      [18, 4, isLate ? 0 : packed.length],
      [22, 4, isLate ? 0 : size],
      [26, 2, path.length],
    ])
    const descriptor = header(16, [
      [0, 4, 0x08074b50],
      [4, 4, crc],
      [8, 4, packed.length],
      [12, 4, size],
    ])
    const extra = ways.is64 === true ? extra64([size, packed.length, at]) : Buffer.alloc(0)
    const entry = header(46, [
      [0, 4, 0x02014b50],
      [4, 2, 20],
      [6, 2, 20],
      [8, 2, flags],
      [10, 2, method],
      [16, 4, crc],
      [20, 4, ways.is64 === true ? 0xffffffff : packed.length],
      [24, 4, ways.is64 === true ? 0xffffffff : size],
      [28, 2, path.length],
      [30, 2, extra.length],
      [42, 4, ways.is64 === true ? 0xffffffff : at],
    ])
    const body = Buffer.concat([local, path, packed, ...(isLate ? [descriptor] : [])])
    bodies.push(body)
    directory.push(entry, path, extra)
    at += body.length
  }
  const entries = Buffer.concat(directory)
  const comment = Buffer.from(ways.comment ?? "")
  const end = header(22, [
    [0, 4, 0x06054b50],
    [8, 2, parts.length],
    [10, 2, parts.length],
    [12, 4, entries.length],
    [16, 4, at],
    [20, 2, comment.length],
  ])
  return Buffer.concat([...bodies, entries, end, comment])
}
