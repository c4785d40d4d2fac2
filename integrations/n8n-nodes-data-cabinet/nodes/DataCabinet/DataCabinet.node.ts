import {
  type IDataObject,
  type IExecuteFunctions,
  type INodeExecutionData,
  type INodeType,
  type INodeTypeDescription,
  type JsonObject,
  NodeApiError,
  NodeConnectionTypes,
  NodeOperationError,
} from "n8n-workflow"
import { formPages, listPages } from "../../shared/feed"
import { parseExact } from "../../shared/json"
import { connect, type Query, refusal, request, tableOptions } from "../../shared/requests"
import { properties } from "./properties"

const FORMS = {
  csv: { accept: "text/csv", mimeType: "text/csv" },
  ndjson: { accept: "application/x-ndjson", mimeType: "application/x-ndjson" },
} as const

interface Filters {
  readonly filter?: ReadonlyArray<{ readonly column: string; readonly condition: string; readonly value: string }>
}

interface SelectionOptions {
  readonly columns?: string
  readonly direction?: string
  readonly match?: string
  readonly safe?: boolean
  readonly search?: string
  readonly sort?: string
}

const sendEvent = async (context: IExecuteFunctions, index: number, item: IDataObject): Promise<IDataObject[]> => {
  const url = String(context.getNodeParameter("intakeUrl", index)).trim()
  if (!/^https?:\/\//.test(url))
    throw new NodeOperationError(
      context.getNode(),
      "The intake address must be a URL, such as https://data.example.com/webhook/…",
      {
        itemIndex: index,
      },
    )
  let body = JSON.stringify(item)
  if (context.getNodeParameter("content", index) === "json") {
    const json: unknown = context.getNodeParameter("json", index)
    body = typeof json === "string" ? json : JSON.stringify(json)
  }
  const answer = (await context.helpers.httpRequest({
    method: "POST",
    url,
    body,
    headers: { "Content-Type": "application/json", Accept: "application/json" },
    encoding: "text",
    returnFullResponse: true,
    ignoreHttpStatusErrors: true,
  })) as { statusCode: number; body: string }
  if (answer.statusCode >= 400) throw refusal(context, answer.statusCode, answer.body)
  return [parseExact(answer.body) as IDataObject]
}

const getEvent = async (context: IExecuteFunctions, index: number): Promise<IDataObject[]> => {
  const id = String(context.getNodeParameter("eventId", index))
  const answer = await request<string>(await connect(context), `/manage/v1/events/${encodeURIComponent(id)}`)
  if (answer.statusCode === 401)
    throw new NodeOperationError(
      context.getNode(),
      "A single event needs an access token with the role viewer in place of an API key",
      {
        itemIndex: index,
      },
    )
  if (answer.statusCode >= 400) throw refusal(context, answer.statusCode, answer.body)
  return [parseExact(answer.body) as IDataObject]
}

/** The parameters of a selection. */
const selection = (context: IExecuteFunctions, index: number) => {
  const { filter = [] } = context.getNodeParameter("filters", index, {}) as Filters
  const options = context.getNodeParameter("options", index, {}) as SelectionOptions
  const query: Array<readonly [string, string]> = filter.flatMap(({ column, condition, value }, position) => [
    ["fc", column] as const,
    ["fo", condition] as const,
    ["fv", condition.endsWith("empty") ? "" : value] as const,
    ...(position > 0 ? [["fj", options.match ?? "and"] as const] : []),
  ])
  if (options.search) query.push(["q", options.search])
  if (options.sort) query.push(["sort", options.sort], ["dir", options.direction ?? "asc"])
  for (const column of (options.columns ?? "").split(",")) if (column.trim() !== "") query.push(["col", column.trim()])
  const [schema, ...name] = String(context.getNodeParameter("table", index)).split(".")
  const path = `/api/v1/tables/${encodeURIComponent(schema!)}/${encodeURIComponent(name.join("."))}/rows`
  return { path, query, isSafe: options.safe === true }
}

const getRows = async (context: IExecuteFunctions, index: number): Promise<IDataObject[]> => {
  const { path, query } = selection(context, index)
  const isWhole = context.getNodeParameter("returnAll", index) as boolean
  const limit = isWhole ? Infinity : (context.getNodeParameter("limit", index) as number)
  const rows: IDataObject[] = []
  for await (const page of listPages<IDataObject>(await connect(context), path, query, limit)) rows.push(...page)
  return rows
}

/** The names of the columns, with which each page of CSV begins; a name may contain a line break within quotes. */
const headerOf = (csv: string): string => /^(?:"(?:[^"]|"")*"|[^"\r])*\r\n/.exec(csv)?.[0] ?? ""

const exportRows = async (context: IExecuteFunctions, index: number): Promise<INodeExecutionData> => {
  const format = context.getNodeParameter("format", index) as keyof typeof FORMS
  const { path, query, isSafe } = selection(context, index)
  const { accept, mimeType } = FORMS[format]
  const pieces: string[] = []
  const asked: Query = format === "csv" && isSafe ? [...query, ["safe", "spreadsheet"]] : query
  for await (const page of formPages(await connect(context), path, asked, accept)) {
    const header = format === "csv" && pieces.length > 0 ? headerOf(pieces[0]!) : ""
    if (!page.startsWith(header))
      throw new NodeOperationError(
        context.getNode(),
        "The table got another column during the export: export it once more",
        {
          itemIndex: index,
        },
      )
    pieces.push(page.slice(header.length))
  }
  const table = String(context.getNodeParameter("table", index))
  const file = await context.helpers.prepareBinaryData(Buffer.from(pieces.join("")), `${table}.${format}`, mimeType)
  return { json: { table, format }, binary: { [context.getNodeParameter("binaryProperty", index) as string]: file } }
}

export class DataCabinet implements INodeType {
  description: INodeTypeDescription = {
    displayName: "Data Cabinet",
    name: "dataCabinet",
    icon: { light: "file:../../icons/dataCabinet.svg", dark: "file:../../icons/dataCabinet.dark.svg" },
    group: ["output"],
    version: 1,
    subtitle: '={{$parameter["operation"] + ": " + $parameter["resource"]}}',
    description: "Sends events to a cabinet, and reads and exports its rows",
    defaults: { name: "Data Cabinet" },
    usableAsTool: true,
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    credentials: [
      { name: "dataCabinetApi", required: true, displayOptions: { show: { resource: ["row"] } } },
      { name: "dataCabinetApi", required: true, displayOptions: { show: { resource: ["event"], operation: ["get"] } } },
    ],
    properties,
  }

  methods = {
    loadOptions: { getTables: tableOptions },
  }

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const items = this.getInputData()
    const results: INodeExecutionData[] = []
    for (const [index, item] of items.entries()) {
      try {
        const operation = `${this.getNodeParameter("resource", index) as string}.${this.getNodeParameter("operation", index) as string}`
        if (operation === "row.export") {
          results.push({ ...(await exportRows(this, index)), pairedItem: { item: index } })
          continue
        }
        const found =
          operation === "event.send"
            ? await sendEvent(this, index, item.json)
            : operation === "event.get"
              ? await getEvent(this, index)
              : await getRows(this, index)
        results.push(...found.map((json) => ({ json, pairedItem: { item: index } })))
      } catch (error) {
        if (!this.continueOnFail()) {
          if (error instanceof NodeOperationError) throw new NodeOperationError(this.getNode(), error)
          throw new NodeApiError(this.getNode(), error as JsonObject, { itemIndex: index })
        }
        results.push({ json: { error: (error as Error).message }, pairedItem: { item: index } })
      }
    }
    return [results]
  }
}
