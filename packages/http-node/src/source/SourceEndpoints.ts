/** The cabinet's sources over the API: the list of all, and one. Includes archived sources, excludes deleted ones. */
import { ERROR_MEANINGS } from "@data-cabinet/core/error/ErrorCode"
import { mayReadSource } from "@data-cabinet/core/key/ReadScope"
import { parseSourceId } from "@data-cabinet/core/source/SourceId"
import { sourceShape } from "@data-cabinet/core/source/SourceShape"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect, Option } from "effect"
import type { ApiError } from "../server/ApiError.ts"
import type { Endpoint } from "../api/Endpoint.ts"
import { endpointRoute, respondBy } from "../api/EndpointRoute.ts"
import { SOURCE_EXAMPLE } from "../openapi/Examples.ts"
import { ref } from "../openapi/Schemas.ts"

export const listSources: Endpoint = {
  id: "listSources",
  tag: "Sources",
  path: "/api/v1/sources",
  summary: "All sources",
  description: "Every source of the cabinet, ordered by id, including those switched off. The list is not paginated.",
  pathParameters: [],
  query: [],
  response: {
    description: "The sources.",
    schema: ref("SourceList"),
    example: { data: [SOURCE_EXAMPLE], has_more: false, next_cursor: null },
  },
  errors: [],
}

export const getSource: Endpoint = {
  id: "getSource",
  tag: "Sources",
  path: "/api/v1/sources/{source_id}",
  summary: "One source",
  description: "One source by its id.",
  pathParameters: [
    {
      name: "source_id",
      description: "The source's id.",
      schema: { type: "integer", format: "int64", minimum: 1 },
      example: 1,
      refuse: (value) =>
        value === undefined || parseSourceId(value) === "malformed"
          ? { code: "bad_source_id", message: "source_id must be a positive integer.", param: "source_id" }
          : undefined,
    },
  ],
  query: [],
  response: { description: "The source.", schema: ref("Source"), example: SOURCE_EXAMPLE },
  errors: ["bad_source_id", "no_such_source"],
}

const noSuchSource: ApiError = {
  code: "no_such_source",
  message: ERROR_MEANINGS.no_such_source,
  param: "source_id",
}

export const sourceRoutes = Effect.gen(function* () {
  const sources = yield* Sources
  return [
    yield* endpointRoute(
      listSources,
      respondBy(({ scope }) =>
        Effect.map(sources.list, (all) =>
          JSON.stringify({
            data: all.filter(({ id }) => mayReadSource(scope, id)).map(sourceShape.json),
            has_more: false,
            next_cursor: null,
          }),
        ),
      ),
    ),
    yield* endpointRoute(
      getSource,
      respondBy(({ path, scope }) => {
        const id = parseSourceId(path[0]!)
        if (typeof id === "string" || !mayReadSource(scope, id)) return Effect.fail(noSuchSource)
        return Effect.flatMap(sources.get(id), (found) =>
          Option.isSome(found)
            ? Effect.succeed(JSON.stringify(sourceShape.json(found.value)))
            : Effect.fail(noSuchSource),
        )
      }),
    ),
  ]
})
