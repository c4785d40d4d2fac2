/** An event of a page as PostgreSQL sends it: the body of a DataRow. */
export interface SentEvent {
  readonly epoch: number
  readonly xid: bigint
  readonly id: number
  readonly source: number
  /** Microseconds since 2000. */
  readonly receivedAt: bigint
  readonly channel: number
  /** 2 if the sender was not verified, plus 4 for spam; absent: 2. */
  readonly marks?: number
  readonly history: boolean
  readonly repeatOf: number | null
  readonly deletedAt: bigint | null
  readonly payload: string | null
}

const int8 = (value: bigint | number): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(BigInt(value))
  return bytes
}

const int4 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

export const messageOf = (event: SentEvent): Buffer => {
  const { epoch, xid, id, source, receivedAt, channel, marks = 2, history, repeatOf, deletedAt, payload } = event
  const values = [
    int8(epoch),
    int8(xid),
    int8(id),
    int8(source),
    int8(receivedAt),
    int4(channel),
    int4(marks),
    Buffer.from([history ? 1 : 0]),
    repeatOf === null ? null : int8(repeatOf),
    deletedAt === null ? null : int8(deletedAt),
    payload === null ? null : Buffer.from(payload),
  ]
  const count = Buffer.alloc(2)
  count.writeUInt16BE(values.length)
  return Buffer.concat([
    count,
    ...values.flatMap((value) => (value === null ? [int4(-1)] : [int4(value.length), value])),
  ])
}
