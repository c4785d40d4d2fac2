/** Requests to a cabinet, by n8n's own client and with the credential of the node. */
import {
  type IDataObject,
  type IExecuteFunctions,
  type IHttpRequestOptions,
  type ILoadOptionsFunctions,
  type INodePropertyOptions,
  type ITriggerFunctions,
  NodeApiError,
  sleep,
} from "n8n-workflow"
import { parseExact } from "./json"

export type Context = IExecuteFunctions | ILoadOptionsFunctions | ITriggerFunctions

/** A parameter may occur several times. */
export type Query = ReadonlyArray<readonly [name: string, value: string]>

export interface Answer<Body> {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Body
}

/** How often a request is repeated that the cabinet asks to repeat later. */
const REPEATS = 5

const CREDENTIAL = "dataCabinetApi"

/** A status at which the same request may succeed later; 0 is no response at all. */
export const passes = (status: number): boolean => status === 0 || status === 429 || status >= 500

/** What the cabinet said, as n8n shows it. */
export const refusal = (context: Context, status: number, text: string): NodeApiError => {
  let said: IDataObject = {}
  try {
    said = ((JSON.parse(text) as IDataObject).error ?? {}) as IDataObject
  } catch {
    said = { message: text.slice(0, 200) }
  }
  const message = `Data Cabinet: ${String(said.message ?? `status ${status}`)}`
  return new NodeApiError(
    context.getNode(),
    { message },
    { message, description: said.code as string, httpCode: String(status) },
  )
}

/** How long to wait before the next attempt, in milliseconds. */
const retryAfter = (answer: Answer<unknown>): number =>
  Math.min(60, Math.max(1, Number(answer.headers["retry-after"] ?? 1) || 1)) * 1_000

/** A cabinet, as the credential of a node opens it. */
export interface Connection {
  readonly context: Context
  readonly baseUrl: string
  readonly send: (options: IHttpRequestOptions) => Promise<unknown>
}

const credentialOf = async (context: Context) => {
  const { baseUrl, apiKey } = await context.getCredentials<{ baseUrl: string; apiKey: string }>(CREDENTIAL)
  return { baseUrl: baseUrl.trim().replace(/\/+$/, ""), apiKey }
}

export const connect = async (context: Context): Promise<Connection> => ({
  context,
  baseUrl: (await credentialOf(context)).baseUrl,
  send: (options) =>
    context.helpers.httpRequestWithAuthentication.call(context, CREDENTIAL, options) as Promise<unknown>,
})

/** For a trigger, which goes on after it has started: from then on n8n evaluates no credential any more. */
export const connectTrigger = async (context: ITriggerFunctions): Promise<Connection> => {
  const { baseUrl, apiKey } = await credentialOf(context)
  const send = (options: IHttpRequestOptions) =>
    context.helpers.httpRequest({
      ...options,
      headers: { ...options.headers, Authorization: `Bearer ${apiKey}` },
    }) as Promise<unknown>
  return { context, baseUrl, send }
}

/** One request to a path below the base URL, whatever the status of its response. */
export const request = async <Body>(
  cabinet: Connection,
  path: string,
  query: Query = [],
  options: Partial<IHttpRequestOptions> = {},
): Promise<Answer<Body>> => {
  const text = new URLSearchParams(query.map(([name, value]): [string, string] => [name, value])).toString()
  return (await cabinet.send({
    encoding: "text",
    returnFullResponse: true,
    ignoreHttpStatusErrors: true,
    url: `${cabinet.baseUrl}${path}${text === "" ? "" : `?${text}`}`,
    ...options,
  })) as Answer<Body>
}

/** The text of a response; repeats while the cabinet is busy, and throws its refusal. */
export const ask = async (
  cabinet: Connection,
  path: string,
  query: Query = [],
  options: Partial<IHttpRequestOptions> = {},
): Promise<Answer<string>> => {
  for (let repeat = 0; ; repeat += 1) {
    const answer = await request<string>(cabinet, path, query, options)
    if (answer.statusCode < 400) return answer
    if (repeat === REPEATS || (answer.statusCode !== 429 && answer.statusCode !== 503))
      throw refusal(cabinet.context, answer.statusCode, answer.body)
    await sleep(retryAfter(answer))
  }
}

export const askJson = async <Json>(cabinet: Connection, path: string, query: Query = []): Promise<Json> =>
  parseExact((await ask(cabinet, path, query)).body) as Json

/** The choices of a parameter. */
export async function sourceOptions(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
  const { data } = await askJson<{ data: ReadonlyArray<{ id: number; name: string }> }>(
    await connect(this),
    "/api/v1/sources",
  )
  return [{ name: "Any Source", value: "" }, ...data.map(({ id, name }) => ({ name, value: String(id) }))]
}

export async function tableOptions(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
  const { data } = await askJson<{ data: ReadonlyArray<{ schema: string; name: string }> }>(
    await connect(this),
    "/api/v1/tables",
  )
  return data.map(({ schema, name }) => ({ name: `${schema}.${name}`, value: `${schema}.${name}` }))
}
