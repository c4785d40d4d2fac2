/**
 * Reads pages of rows in a session. A call that is aborted cancels the statement in the database; its remaining messages are
 * discarded.
 */
import type { AbortableCall } from "@data-cabinet/core/runtime/AbortableCall"
import { PageExchange } from "./PageExchange.ts"
import { NOBODY_WAITS, type PageResult, type PageStatement, type PageToRead, type RowSink } from "./PageStatement.ts"
import type { WireSession } from "./Wires.ts"

/**
 * Reads a page in a session that is used for nothing else until it has ended. A call that is aborted cancels the
 * statement: the result is then `other`, and comes when the session is at rest.
 */
export const readPage = (
  session: WireSession,
  statement: PageStatement,
  rows: RowSink,
  call: AbortableCall,
): Promise<PageResult> => readPages(session, [{ statement, rows }], call)

/**
 * Reads several pages in one transaction, followed by their common proof. All or none: no page counts unless all were
 * read. Pages with long rows are never read together.
 */
export const readPages = (
  session: WireSession,
  pages: ReadonlyArray<PageToRead>,
  call: AbortableCall,
): Promise<PageResult> =>
  new Promise((resolve) => {
    if (call.isAborted) return resolve(NOBODY_WAITS)
    const exchange = new PageExchange(session, pages, (result) => {
      stopListening()
      resolve(result)
    })
    const stopListening = call.onAbort(() => exchange.abort())
    exchange.start()
  })
