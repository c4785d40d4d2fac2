/** An error response of a cabinet, or a request that got none. */
export class CabinetError extends Error {
  override readonly name = "CabinetError"
  /** The API's own code, such as `bad_cursor`; `unreachable` without a response. */
  readonly code: string
  /** Null without a response. */
  readonly status: number | null
  /** The parameter or the field at fault. */
  readonly param: string | null
  /** Seconds until a retry makes sense; null if the server did not say. */
  readonly retryAfter: number | null

  constructor(fields: {
    readonly code: string
    readonly message: string
    readonly status: number | null
    readonly param?: string | null
    readonly retryAfter?: number | null
    readonly cause?: unknown
  }) {
    super(fields.message, { cause: fields.cause })
    this.code = fields.code
    this.status = fields.status
    this.param = fields.param ?? null
    this.retryAfter = fields.retryAfter ?? null
  }

  /** Whether the same request may succeed later: no response, too many requests, or an unavailable server. */
  get isTemporary(): boolean {
    return this.status === null || this.status === 429 || this.status >= 500
  }
}

interface ErrorBody {
  readonly error?: { readonly code?: string; readonly message?: string; readonly param?: string | null } | string
  readonly detail?: string
}

const bodyOf = (text: string): ErrorBody => {
  try {
    return (JSON.parse(text) ?? {}) as ErrorBody
  } catch {
    return {}
  }
}

/** The error of an unsuccessful response; intake and the APIs use different shapes. */
export const errorOf = (response: Response, text: string): CabinetError => {
  const { error, detail } = bodyOf(text)
  const problem = typeof error === "object" ? error : { code: error, message: detail }
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN)
  return new CabinetError({
    code: problem.code ?? `http_${response.status}`,
    message: problem.message ?? `The server responded with ${response.status}.`,
    status: response.status,
    param: ("param" in problem ? problem.param : null) ?? null,
    retryAfter: Number.isFinite(seconds) ? seconds : null,
  })
}
