/** The examples of the API's description. A test validates each against its schema. */

export const SOURCE_EXAMPLE = {
  id: 1,
  name: "Orders",
  archived: false,
  table: { schema: "sources", name: "orders" },
  created_at: "2026-11-21T09:00:00Z",
}

export const TABLE_EXAMPLE = {
  schema: "sources",
  name: "orders",
  kind: "table",
  source: { id: 1, name: "Orders" },
  comment: null,
  rows_estimate: 10400,
}

export const COLUMN_EXAMPLES = [
  { name: "_event_id", type: "bigint", label: "_event_id", comment: null },
  { name: "total", type: "numeric", label: "Total", comment: null },
]

export const EVENT_EXAMPLE = {
  id: 10417,
  source: { id: 1, name: "Orders" },
  channel: "webhook",
  received_at: "2026-11-21T09:30:00.125Z",
  payload: { Total: 12.5, customer: "Ada" },
  repeat_of: null,
  history: false,
  deleted_at: null,
}

export const DELIVERY_EXAMPLE = {
  id: 731,
  type: "event.received",
  created_at: "2026-11-21T09:30:00.2Z",
  source: { id: 1, name: "Orders" },
  data: EVENT_EXAMPLE,
}

export const PING_EXAMPLE = { id: 732, type: "ping", created_at: "2026-11-21T09:31:00Z" }
