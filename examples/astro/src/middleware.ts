/** The check of Astro that astro.config.mjs switches off, for everything but the cabinet: other sites post no forms here. */
import { defineMiddleware } from "astro:middleware"

const site = process.env["SITE"] ?? "http://127.0.0.1:3000"

const isForeign = ({ method, headers }: Request): boolean =>
  !["GET", "HEAD", "OPTIONS"].includes(method) && headers.get("origin") !== new URL(site).origin

export const onRequest = defineMiddleware(({ request, url }, next) =>
  isForeign(request) && !url.pathname.startsWith("/data/")
    ? new Response("Forms of other sites are refused\n", { status: 403 })
    : next(),
)
