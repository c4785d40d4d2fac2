/**
 * A real Chromium, driven from outside, that can reach only this machine: every other name and address is refused
 * before a lookup, and counted. It records a page's errors: console errors, uncaught exceptions, and violations of the
 * policy.
 */
import { type BrowserContextOptions, chromium, type ConsoleMessage, type Page } from "playwright-core"

/** The path of the browser: `.ci/chromium` finds or installs one, and prints its path. */
const executable = (): string => {
  const named = process.env["CHROMIUM"]
  if (named === undefined || named === "") throw new Error("Name a browser: CHROMIUM=$(.ci/chromium) vitest …")
  return named
}

const ONLY_US = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"

const FLAGS = [ONLY_US, "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]

export interface Visit {
  readonly page: Page
  /** Requested addresses of other machines, none of which was reached. */
  readonly outside: ReadonlyArray<string>
  readonly complaints: ReadonlyArray<string>
}

/** The console's message about the status of the document, which many tests provoke on purpose. */
const isOfDocument = (message: ConsoleMessage) =>
  message.text().startsWith("Failed to load resource: the server responded with a status of") &&
  message.location().url === message.page()?.url()

export const startChromium = async () => {
  const browser = await chromium.launch({ executablePath: executable(), args: FLAGS })
  return {
    /** A window of a new visitor. `options.locale` is the language that it requests pages in. */
    visit: async (options: BrowserContextOptions = {}): Promise<Visit> => {
      const context = await browser.newContext(options)
      // A busy machine may take longer than the driver's 30 s; what hangs ends by the limit of its test.
      context.setDefaultTimeout(120_000)
      const [outside, complaints]: [Array<string>, Array<string>] = [[], []]
      context.on("request", (request) => {
        const { hostname, protocol } = new URL(request.url())
        if (hostname !== "127.0.0.1" && /^(?:http|ws)/.test(protocol)) outside.push(request.url())
      })
      context.on("console", (message) => {
        if (/^(?:error|warning)$/.test(message.type()) && !isOfDocument(message)) complaints.push(message.text())
      })
      context.on("weberror", (error) => complaints.push(String(error.error())))
      await context.addInitScript(() =>
        addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) =>
          console.error(`the policy forbids ${effectiveDirective} ${blockedURI}`),
        ),
      )
      return { page: await context.newPage(), outside, complaints }
    },
    close: () => browser.close(),
  }
}

export type Chromium = Awaited<ReturnType<typeof startChromium>>
