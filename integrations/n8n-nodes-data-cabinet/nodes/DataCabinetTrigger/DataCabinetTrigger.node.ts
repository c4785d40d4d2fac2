import {
  type IDataObject,
  type INodeType,
  type INodeTypeDescription,
  type IRun,
  type ITriggerFunctions,
  type ITriggerResponse,
  type NodeApiError,
  NodeConnectionTypes,
  sleep,
} from "n8n-workflow"
import { acknowledge, keptCursor, liveBatches, newestCursor, newestEvent, polledBatches } from "../../shared/feed"
import { connectTrigger, passes, type Query, sourceOptions } from "../../shared/requests"

/** The cabinet counts an acknowledgement as a request, so a busy feed is acknowledged this often. */
const ACKNOWLEDGE_MILLIS = 5_000

/** How long a workflow that is deactivated waits for its running execution. */
const LEAVE_MILLIS = 10_000

interface Position {
  /** After the last event whose execution ended. */
  cursor?: string | null
  /** The selection that the cursor belongs to. */
  filter?: string
}

/** What deliveries leave out as well. */
const KINDS: Readonly<Record<string, (event: IDataObject) => boolean>> = {
  repeats: (event) => event.repeat_of !== null,
  history: (event) => event.history === true,
  unverified: (event) => event.verified === false,
  spam: (event) => (event.spam ?? null) !== null,
  deleted: (event) => event.deleted_at !== null,
}

/** A name of its own for each trigger of each n8n; another selection is another position. */
const followerName = (context: ITriggerFunctions, filter: Query): string => {
  const words = [context.getInstanceId(), context.getWorkflow().id, context.getNode().id]
  const [instance, workflow, node] = words.map((word) => String(word).replace(/[^A-Za-z0-9]/g, ""))
  const parts = ["n8n", instance!.slice(0, 8), workflow!.slice(0, 16), node!.slice(0, 8), ...filter.map(([, v]) => v)]
  return parts
    .filter((part) => part !== "")
    .join("-")
    .slice(0, 64)
}

export class DataCabinetTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: "Data Cabinet Trigger",
    name: "dataCabinetTrigger",
    icon: { light: "file:../../icons/dataCabinet.svg", dark: "file:../../icons/dataCabinet.dark.svg" },
    group: ["trigger"],
    version: 1,
    subtitle: '={{$parameter["mode"] === "live" ? "live" : "every minute"}}',
    description: "Starts a workflow by the events of a cabinet, in their order, without skipping any",
    defaults: { name: "Data Cabinet Trigger" },
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: "dataCabinetApi", required: true }],
    properties: [
      {
        displayName: "Mode",
        name: "mode",
        type: "options",
        options: [
          { name: "Every Minute", value: "minute", description: "Ask for new events once a minute" },
          { name: "Live", value: "live", description: "Get events the moment they are accepted" },
        ],
        default: "live",
      },
      {
        displayName: "Source Name or ID",
        name: "source",
        type: "options",
        typeOptions: { loadOptionsMethod: "getSources" },
        default: "",
        description:
          'Only events of this source. Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
      },
      {
        displayName: "Channel",
        name: "channel",
        type: "options",
        options: [
          { name: "Any", value: "" },
          { name: "File", value: "file" },
          { name: "Poll", value: "pull" },
          { name: "Webhook", value: "webhook" },
        ],
        default: "",
        description: "Only events that came this way",
      },
      {
        displayName: "Start",
        name: "start",
        type: "options",
        options: [
          { name: "All Events", value: "beginning", description: "Begin with the first event of the cabinet" },
          { name: "New Events", value: "now", description: "Begin with the next event" },
        ],
        default: "now",
        description: "Where to begin when the workflow is active for the first time. Later it continues where it was.",
      },
      {
        displayName: "Options",
        name: "options",
        type: "collection",
        placeholder: "Add option",
        default: {},
        options: [
          {
            displayName: "Also Include",
            name: "include",
            type: "multiOptions",
            options: [
              { name: "Deleted Events", value: "deleted" },
              { name: "History", value: "history", description: "Events of files and of first polls" },
              { name: "Repeats", value: "repeats" },
              { name: "Spam", value: "spam" },
              { name: "Unverified Events", value: "unverified" },
            ],
            default: [],
            description: "Events that are left out otherwise",
          },
          {
            displayName: "Most Events per Execution",
            name: "size",
            type: "number",
            typeOptions: { minValue: 1, maxValue: 1000 },
            default: 100,
            description: "Events that arrive at the same time become items of one execution, up to this many",
          },
        ],
      },
    ],
  }

  methods = {
    loadOptions: { getSources: sourceOptions },
  }

  async trigger(this: ITriggerFunctions): Promise<ITriggerResponse> {
    const filter: Query = (["source", "channel"] as const).flatMap((name) => {
      const value = String(this.getNodeParameter(name, "") ?? "")
      return value === "" ? [] : [[name === "source" ? "source_id" : name, value] as const]
    })
    const { include = [], size = 100 } = this.getNodeParameter("options", {}) as { include?: string[]; size?: number }
    const left = Object.entries(KINDS).flatMap(([kind, isOne]) => (include.includes(kind) ? [] : [isOne]))

    const cabinet = await connectTrigger(this)

    if (this.getMode() === "manual") {
      return {
        manualTriggerFunction: async () => {
          const event = await newestEvent(cabinet, filter)
          this.emit([event === null ? [] : this.helpers.returnJsonArray([event])])
        },
      }
    }

    const follower = followerName(this, filter)
    const position = this.getWorkflowStaticData("node") as Position
    const filterText = JSON.stringify(filter)
    let cursor = position.filter === filterText ? (position.cursor ?? null) : null
    // The cabinet knows the end of the last execution; n8n may have stored an earlier one, or none.
    cursor ??= await keptCursor(cabinet, follower, filter)
    if (cursor === null && position.filter !== filterText && this.getNodeParameter("start", "now") === "now")
      cursor = await newestCursor(cabinet, filter)
    let keeps = true
    const keep = async (): Promise<string | null> => {
      if (cursor === null || !keeps) return cursor
      const kept = await acknowledge(cabinet, follower, filter, cursor)
      if (kept === null) {
        keeps = false
        this.logger.warn(`The cabinet keeps no more positions, so ${follower} is kept by n8n only.`)
      }
      return kept ?? cursor
    }
    cursor = await keep()
    Object.assign(position, { cursor, filter: filterText })

    // n8n evaluates parameters only until this function returns.
    const read = this.getNodeParameter("mode", "live") === "live" ? liveBatches : polledBatches
    const stop = new AbortController()
    const stopped = new Promise<void>((resolve) => stop.signal.addEventListener("abort", () => resolve()))
    let acknowledgedAt = 0
    let later: Promise<void> | null = null
    const acknowledgeSoon = async (): Promise<void> => {
      const wait = acknowledgedAt + ACKNOWLEDGE_MILLIS - Date.now()
      await Promise.race([sleep(Math.max(0, wait)), stopped])
      acknowledgedAt = Date.now()
      later = null
      // What fails now is repeated with the next events.
      await keep().catch((error: Error) => this.logger.debug(error.message))
    }

    /** Ends with the execution, so that they run in order and a crash repeats what it interrupted. */
    const execute = async (events: ReadonlyArray<IDataObject>): Promise<void> => {
      const done = this.helpers.createDeferredPromise<IRun>()
      this.emit([this.helpers.returnJsonArray([...events])], undefined, done)
      await done.promise.then(
        () => undefined,
        () => undefined,
      )
    }

    const follow = async (): Promise<void> => {
      for (let failures = 0; !stop.signal.aborted;) {
        try {
          for await (const batch of read(cabinet, filter, cursor, size, stop.signal)) {
            const events = batch.events.filter((event) => !left.some((isOne) => isOne(event)))
            if (events.length > 0) await execute(events)
            cursor = batch.cursor
            position.cursor = cursor
            failures = 0
            later ??= acknowledgeSoon()
            if (stop.signal.aborted) return
          }
        } catch (error) {
          if (stop.signal.aborted) return
          if (!passes(Number((error as NodeApiError).httpCode ?? 0) || 0)) {
            this.emitError(error as Error)
            return
          }
          failures += 1
          this.logger.debug(`The feed is read again soon: ${(error as Error).message}`)
        }
        await Promise.race([sleep(Math.min(30_000, 500 * 2 ** Math.min(failures, 6))), stopped])
      }
    }
    const following = follow()
    return {
      closeFunction: async () => {
        stop.abort()
        await Promise.race([following, sleep(LEAVE_MILLIS)])
        await (later ?? Promise.resolve())
      },
    }
  }
}
