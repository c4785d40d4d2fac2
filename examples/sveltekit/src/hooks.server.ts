/** The check of SvelteKit that vite.config.ts switches off, for everything but the cabinet: other sites post no forms here. */
import type { Handle } from "@sveltejs/kit"

const site = process.env["SITE"] ?? "http://127.0.0.1:3000"

const isForeign = ({ method, headers }: Request): boolean =>
  !["GET", "HEAD", "OPTIONS"].includes(method) && headers.get("origin") !== new URL(site).origin

export const handle: Handle = ({ event, resolve }) =>
  isForeign(event.request) && !event.url.pathname.startsWith("/data/")
    ? new Response("Forms of other sites are refused\n", { status: 403 })
    : resolve(event)
