/**
 * A real Chromium, driven from outside, that can reach nothing but this machine: every other name and address is refused
 * before it is looked up, and counted. What a page complains of is kept: errors of the console, uncaught ones, and
 * whatever its policy forbade.
 */
import { type BrowserContextOptions, chromium, type ConsoleMessage, type Page } from "playwright-core"

/** Which browser: `.ci/chromium` finds or installs one, and prints its path. */
const executable = (): string => {
  const named = process.env["CHROMIUM"]
  if (named === undefined || named === "") throw new Error("Name a browser: CHROMIUM=$(.ci/chromium) vitest …")
  return named
}

const ONLY_US = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"

const FLAGS = [ONLY_US, "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]

export interface Visit {
  readonly page: Page
  /** Addresses off this machine that were asked for; none was reached. */
  readonly outside: ReadonlyArray<string>
  readonly complaints: ReadonlyArray<string>
}

/** A status of the document itself is said in the console too; it is what many of these tests ask for. */
const isOfDocument = (message: ConsoleMessage) =>
  message.text().startsWith("Failed to load resource: the server responded with a status of") &&
  message.location().url === message.page()?.url()

export const startChromium = async () => {
  const browser = await chromium.launch({ executablePath: executable(), args: FLAGS })
  return {
    /** A window of somebody who was never here before. Its language is what it asks pages in. */
    visit: async (options: BrowserContextOptions = {}): Promise<Visit> => {
      const context = await browser.newContext(options)
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
