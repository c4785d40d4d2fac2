/** The cabinet's intake addresses, APIs and console, below `/data`. */
import { contact } from "../../../lib/server/contact"

export const fallback = async ({ request }: { request: Request }): Promise<Response> =>
  (await contact()).cabinet.fetchHandler(request)
