/** `app/data/[...path]/route.ts` of a Next.js app: its intake addresses, APIs and console, below `/data`. */
import { cabinet } from "../../../lib/cabinet"

export const runtime = "nodejs"
export const dynamic = "force-dynamic"

const handle = async (request: Request): Promise<Response> => (await cabinet()).fetchHandler(request)

export {
  handle as DELETE,
  handle as GET,
  handle as HEAD,
  handle as OPTIONS,
  handle as PATCH,
  handle as POST,
  handle as PUT,
}
