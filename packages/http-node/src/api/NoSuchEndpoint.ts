/** The response for an address without an endpoint. */
import { errorResponse } from "../server/ApiError.ts"

export const noSuchEndpoint = errorResponse({
  code: "no_such_endpoint",
  message: "Unknown endpoint. The endpoints of the API are described at /api/v1/docs.",
})
