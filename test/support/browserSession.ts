/** A person who signs in as a browser does: forms, cookies, and the headers that name the requesting page. */
export interface Visitor {
  cookie: string | null
  readonly get: (path: string) => Promise<Page>
  readonly post: (path: string, form: Readonly<Record<string, string>>, headers?: Sent) => Promise<Page>
  /** A request to the management API, with a body of JSON. */
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
    const cookie: Sent = it.cookie === null ? {} : { cookie: it.cookie }
    const response = await fetch(base + path, {
      method,
      redirect: "manual",
      headers: { ...always, ...cookie, ...headers },
      ...(body === undefined ? {} : { body }),
    })
    const text = await response.text()
    const set = response.headers.get("set-cookie")
    if (set !== null) it.cookie = set.includes("Max-Age=0") ? null : set.split(";")[0]!
    const isJson = (response.headers.get("content-type") ?? "").startsWith("application/json")
    return {
      status: response.status,
      text,
      headers: response.headers,
      json: isJson && text !== "" ? JSON.parse(text) : undefined,
    }
  }
  const it: Visitor = {
    cookie: null,
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
