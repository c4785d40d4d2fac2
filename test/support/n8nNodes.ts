/**
 * The nodes of integrations/n8n-nodes-data-cabinet, compiled as they are published, and what n8n gives them: its own
 * requests, parameters, and the data of a workflow, which n8n stores when a trigger emits, before the execution begins.
 * `.ci/n8n` fetches n8n's part.
 */
import { execFileSync } from "node:child_process"
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { Readable } from "node:stream"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../", import.meta.url))
const folder = join(root, "node_modules/.data-cabinet/n8n")

/** Whether n8n's part is here. */
export const hasN8n = existsSync(join(folder, "done"))

type Json = Readonly<Record<string, unknown>>

export interface Item {
  readonly json: any
  readonly binary?: Record<string, { readonly data: string; readonly fileName: string; readonly mimeType: string }>
  readonly pairedItem?: { readonly item: number }
}

interface Trigger {
  readonly closeFunction?: () => Promise<void>
  readonly manualTriggerFunction?: () => Promise<void>
}

interface Nodes {
  readonly execute: (this: unknown) => Promise<ReadonlyArray<ReadonlyArray<Item>>>
  readonly trigger: (this: unknown) => Promise<Trigger>
  readonly loadOptions: Readonly<Record<string, (this: unknown) => Promise<ReadonlyArray<Json>>>>
  readonly credential: { readonly test: { readonly request: Json }; readonly authenticate: Json }
}

/** Compiles the nodes as `npm run build` does, in a folder of their own. */
export const buildNodes = (): string => {
  const built = mkdtempSync(join(folder, "built-"))
  cpSync(join(root, "integrations/n8n-nodes-data-cabinet"), built, {
    recursive: true,
    filter: (path) => !path.slice(root.length).includes("node_modules"),
  })
  execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", built], { stdio: "inherit" })
  execFileSync(process.execPath, ["copy-assets.mjs"], { cwd: built, stdio: "inherit" })
  return built
}

/** The compiled nodes, loaded as n8n loads them. */
export const compiledNodes = (): Nodes & { readonly remove: () => void } => {
  const built = buildNodes()
  const load = createRequire(join(built, "package.json"))
  const { n8n } = load("./package.json") as {
    n8n: { nodes: ReadonlyArray<string>; credentials: ReadonlyArray<string> }
  }
  const [action, trigger] = n8n.nodes.map((path) => Object.values(load(`./${path}`))[0] as new () => any)
  const Credential = Object.values(load(`./${n8n.credentials[0]!}`))[0] as new () => Nodes["credential"]
  const [one, two] = [new action!(), new trigger!()]
  return {
    execute: one.execute,
    trigger: two.trigger,
    loadOptions: { ...one.methods.loadOptions, ...two.methods.loadOptions },
    credential: new Credential(),
    remove: () => rmSync(built, { recursive: true }),
  }
}

interface Request {
  readonly url: string
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly encoding?: string
  readonly abortSignal?: AbortSignal
}

const send = async ({ url, method = "GET", headers = {}, body, encoding, abortSignal }: Request) => {
  const response = await fetch(url, { method, headers, body: body ?? null, signal: abortSignal ?? null })
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body: encoding === "stream" ? Readable.fromWeb(response.body! as never) : await response.text(),
  }
}

export interface Instance {
  /** The items of each execution, in order. */
  readonly executions: Array<ReadonlyArray<Item>>
  readonly errors: Array<Error>
  readonly warnings: Array<string>
  /** The data of the workflow, as stored: at activation, and before each execution. */
  stored: Json
  /** Resolves when so many executions ran. */
  readonly ran: (count: number) => Promise<void>
  /** Ends it as a kill does: from here on it executes, stores and sends nothing. */
  readonly kill: () => void
  /** What n8n does once a trigger has started: it stores the data, and evaluates no parameter any more. */
  readonly activate: () => void
  readonly context: unknown
}

/** An n8n with one workflow of one node. `stored` is what a former one left. */
export const n8n = (options: {
  readonly credentials: { readonly baseUrl: string; readonly apiKey: string }
  readonly parameters: Json
  readonly mode?: "trigger" | "manual"
  readonly stored?: Json
  readonly items?: ReadonlyArray<Item>
  readonly continueOnFail?: boolean
}): Instance => {
  const { credentials, parameters } = options
  const data = structuredClone(options.stored ?? {}) as Record<string, unknown>
  let isDead = false
  let isActive = false
  const waiting = new Set<() => void>()
  const requests = (request: Request) => {
    if (isDead) throw new Error("killed")
    return send(request)
  }
  const instance = {
    executions: [] as Array<ReadonlyArray<Item>>,
    errors: [] as Array<Error>,
    warnings: [] as Array<string>,
    stored: options.stored ?? {},
    ran: (count: number) =>
      new Promise<void>((resolve) => {
        const look = () => instance.executions.length >= count && resolve()
        waiting.add(look)
        look()
      }),
    kill: () => (isDead = true),
    activate: () => {
      isActive = true
      instance.stored = structuredClone(data)
    },
    context: {
      getNode: () => ({
        id: "5f0c1f9e-7c55",
        name: "Data Cabinet",
        type: "dataCabinet",
        typeVersion: 1,
        parameters: {},
      }),
      getWorkflow: () => ({ id: "Vd2FzbPfhOy1aGvX", active: true }),
      getInstanceId: () => "0c2f9b1d8e7a",
      getMode: () => options.mode ?? "trigger",
      getNodeParameter: (name: string, ...rest: ReadonlyArray<unknown>) => {
        if (isActive) throw new Error("No bridge acquired for this context.")
        return parameters[name] ?? rest.at(-1)
      },
      getInputData: () => options.items ?? [{ json: {} }],
      getCredentials: async () => {
        if (isActive) throw new Error("No bridge acquired for this context.")
        return credentials
      },
      getWorkflowStaticData: () => data,
      continueOnFail: () => options.continueOnFail ?? false,
      logger: { debug: () => {}, warn: (text: string) => instance.warnings.push(text) },
      emitError: (error: Error) => instance.errors.push(error),
      emit: ([items]: readonly [ReadonlyArray<Item>], _: unknown, done?: { resolve: (run: unknown) => void }) => {
        if (isDead) return
        instance.stored = structuredClone(data)
        setImmediate(() => {
          if (isDead) return
          instance.executions.push(items)
          done?.resolve({})
          for (const look of waiting) look()
        })
      },
      helpers: {
        httpRequest: requests,
        httpRequestWithAuthentication: async (_: string, request: Request) => {
          const { apiKey } = await instance.context.getCredentials()
          return requests({ ...request, headers: { ...request.headers, Authorization: `Bearer ${apiKey}` } })
        },
        returnJsonArray: (all: ReadonlyArray<unknown>) => all.map((json) => ({ json })),
        createDeferredPromise: () => {
          const { promise, resolve, reject } = Promise.withResolvers<unknown>()
          return { promise, resolve, reject }
        },
        prepareBinaryData: async (bytes: Buffer, fileName: string, mimeType: string) => ({
          data: bytes.toString("base64"),
          fileName,
          mimeType,
        }),
      },
    },
  }
  return instance
}
