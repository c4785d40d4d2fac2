/** `app/data/[...path]/route.ts` of a Next.js app: the intake addresses and the read API, below `/data`. */
import { cabinet } from "../../../lib/cabinet"

export const runtime = "nodejs"
export const dynamic = "force-dynamic"

const answer = async (request: Request): Promise<Response> => (await cabinet()).fetchHandler(request)

export {
  answer as DELETE,
  answer as GET,
  answer as HEAD,
  answer as OPTIONS,
  answer as PATCH,
  answer as POST,
  answer as PUT,
}
