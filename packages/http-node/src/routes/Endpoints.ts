/** Every endpoint that requires a key, in the order of the reference. */
import { acknowledgeEvents } from "../feed/AcknowledgeEndpoint.ts"
import { listEvents } from "../feed/FeedEndpoint.ts"
import { describe } from "../openapi/DescribeEndpoint.ts"
import { listRows } from "../row/RowsEndpoint.ts"
import { getTable, listTables } from "../row/TableEndpoints.ts"
import { getSource, listSources } from "../source/SourceEndpoints.ts"
import type { Endpoint } from "../api/Endpoint.ts"

export const ENDPOINTS: ReadonlyArray<Endpoint> = [
  listEvents,
  acknowledgeEvents,
  listRows,
  listTables,
  getTable,
  listSources,
  getSource,
  describe,
]
