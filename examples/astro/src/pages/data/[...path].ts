/** The cabinet's intake addresses, APIs and console, below `/data`. */
import { contact } from "../../lib/contact"

export const ALL = async ({ request }: { request: Request }): Promise<Response> =>
  (await contact()).cabinet.fetchHandler(request)
