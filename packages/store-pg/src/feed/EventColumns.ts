/** The columns of an event as PostgreSQL sends them, in binary. */
import { PgTypes } from "@effect/sql-pg"

/** The columns of an event in the order in which they are sent, with the oid of each one's type. */
export const SENT_COLUMNS = {
  epoch: 20,
  xid: 20,
  id: 20,
  source_id: 20,
  received_at: PgTypes.OID.timestamptz,
  /** Its index in {@link CHANNELS}. */
  channel: 23,
  /** Whether it is verified (0: false, 1: true, {@link NOT_ASKED}: neither), and {@link SPAM} more if it is spam. */
  marks: 23,
  history: 16,
  repeat_of: 20,
  deleted_at: PgTypes.OID.timestamptz,
  /** Null if the page is full, or if an optimistic statement met an event that may be too long for it. */
  payload: PgTypes.OID.json,
} as const

/** The member of an event whose sender was not verified. */
export const NOT_ASKED = 2

/** The member added to an event that is spam. */
export const SPAM = 4

export const COLUMNS = Object.keys(SENT_COLUMNS).length

/** The number of a row's values, and the size of each. */
const ROW_HEAD = 2

export const VALUE_HEAD = 4

/** The offset in a row at which the values of fixed size begin. */
export const EPOCH = ROW_HEAD + VALUE_HEAD

export const XID = EPOCH + 12

export const ID = XID + 12

export const SOURCE = ID + 12

export const RECEIVED_AT = SOURCE + 12

export const CHANNEL = RECEIVED_AT + 12

export const MARKS = CHANNEL + 8

export const HISTORY = MARKS + 8
