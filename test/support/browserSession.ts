/** A person who signs in as a browser does: forms, cookies, and the headers that name the requesting page. */
export interface Visitor {
  /** The session's cookie, or the cookie of the last response that set exactly one. */
  cookie: string | null
  /** Whether the cookie that recognises the browser after its session is sent; it is always kept. */
  isKnown: boolean
  /** Short-lived cookies by name: of a form that waits for a sign-in, and of an act that was just done. */
  readonly brief: Map<string, string>
  readonly get: (path: string) => Promise<Page>
  readonly post: (path: string, form: Readonly<Record<string, string>>, headers?: Sent) => Promise<Page>
  /** Sends a JSON body to the management API. */
  readonly manage: (method: string, path: string, body?: unknown, headers?: Sent) => Promise<Page>
}

type Sent = Readonly<Record<string, string>>

export interface Page {
  readonly status: number
  readonly text: string
  readonly headers: Headers
  readonly json: any
}

export const SAME_ORIGIN: Sent = { "sec-fetch-site": "same-origin" }

export const visitor = (base: string, always: Sent = {}): Visitor => {
  const ask = async (method: string, path: string, headers: Sent, body?: string): Promise<Page> => {
    const brief = [...it.brief].map((pair) => pair.join("="))
    const cookies = [it.cookie, it.isKnown ? known : null, ...brief].filter((one) => one !== null)
    const cookie: Sent = cookies.length === 0 ? {} : { cookie: cookies.join("; ") }
    const response = await fetch(base + path, {
      method,
      redirect: "manual",
      headers: { ...always, ...cookie, ...headers },
      ...(body === undefined ? {} : { body }),
    })
    const text = await response.text()
    for (const set of response.headers.getSetCookie()) {
      const [pair] = set.split(";")
      if (/^(?:__Secure-)?cabinet-browser=/.test(set)) known = pair!
      // The cookie of a sign-in at a provider has its own path, so it is cleared in the response that sets the session.
      else if (/cabinet-sign-in=;/.test(set)) continue
      else if (/^(?:__Secure-)?cabinet-(?:form|done)=/.test(set)) {
        const [name, value] = pair!.split(/=(.*)/)
        if (value === "") it.brief.delete(name!)
        else it.brief.set(name!, value!)
      } else it.cookie = set.includes("Max-Age=0") ? null : pair!
    }
    const isJson = (response.headers.get("content-type") ?? "").startsWith("application/json")
    return {
      status: response.status,
      text,
      headers: response.headers,
      json: isJson && text !== "" ? JSON.parse(text) : undefined,
    }
  }
  let known: string | null = null
  const it: Visitor = {
    cookie: null,
    isKnown: false,
    brief: new Map(),
    get: (path) => ask("GET", path, {}),
    post: (path, form, headers = SAME_ORIGIN) =>
      ask(
        "POST",
        path,
        { "content-type": "application/x-www-form-urlencoded", ...headers },
        new URLSearchParams(form).toString(),
      ),
    manage: (method, path, body, headers = SAME_ORIGIN) =>
      ask(
        method,
        `/manage/v1/${path}`,
        { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
        body === undefined ? undefined : JSON.stringify(body),
      ),
  }
  return it
}
