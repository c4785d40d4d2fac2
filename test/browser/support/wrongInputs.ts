/**
 * An invalid input for every form of the console that can be refused, by the form's address: the invalid fields with their
 * values. Null leaves a box unmarked. Other fields are filled by their kind (`consoleForms.test.ts`).
 */
export interface WrongInput {
  readonly fields: Readonly<Record<string, string | null>>
  /** The name of the field with the message; null if the message is about the form. */
  readonly at: string | null
  /** The screen on which it is refused, if not on all. */
  readonly on?: string
}

const LONG = "x".repeat(1_100)

/** The other fields of an address, which are valid. */
const SENDING = {
  fo: "eq",
  header_name: "X-Typed",
  give_up_after_seconds: "7d",
  client_identity_certificate: "",
  client_identity_key: "",
}

/** The fields of a destination's credentials, of which none is typed. */
const NO_CREDENTIALS = Object.fromEntries(
  ["access_key_id", "secret_access_key", "session_token", "user", "password", "token", "seed", "jwt"].map((name) => [
    name,
    "",
  ]),
)

export const WRONG_INPUTS: Readonly<Record<string, WrongInput>> = {
  addresses: {
    fields: { ...SENDING, body_template: "{}", body_content_type: "application/json", url: "ftp://typed.example/" },
    at: "url",
  },
  "addresses/{id}/body": {
    fields: { body_kind: "template", body_template: '{"typed": "{{paylod}}"}' },
    at: "body_template",
  },
  "addresses/{id}/change": { fields: { ...SENDING, url: "ftp://typed.example/" }, at: "url" },
  "addresses/{id}/headers": { fields: { header_name: "no header" }, at: "header_name" },
  "addresses/{id}/preview": {
    fields: { body_kind: "template", body_template: '{"typed": "{{paylod}}"}' },
    at: "body_template",
  },
  "addresses/{id}/resend": { fields: { from: "2026-01-02T03:04:05", to: "2026-01-01T03:04:05" }, at: "from" },
  "addresses/{id}/test": { fields: { event: "99999" }, at: "event" },
  "deliveries/resend": { fields: { delivery: null }, at: "delivery" },
  destinations: {
    fields: { ...NO_CREDENTIALS, location: "ftp://typed.example/", endpoint: "", region: "" },
    at: "location",
  },
  "destinations/{id}/change": {
    fields: { ...NO_CREDENTIALS, endpoint: "ftp://typed.example/", region: "typed" },
    at: "endpoint",
  },
  "events/erase": { fields: { fc: "", fv: "typed" }, at: "fc" },
  "events/purge": { fields: { confirm: "17" }, at: "confirm" },
  "events/restore": { fields: { event: null }, at: "event" },
  "events/trash": { fields: { event: null }, at: "event" },
  "events/{id}/purge": { fields: { confirm: "17" }, at: "confirm" },
  files: { fields: { header_row: "0" }, at: "header_row" },
  keys: { fields: { name: LONG }, at: "name" },
  password: { fields: {}, at: null },
  people: { fields: { name: LONG }, at: "name" },
  "people/{id}/change": { fields: { name: LONG }, at: "name" },
  "people/{id}/remove": { fields: { confirm: "somebody else" }, at: "confirm" },
  polls: { fields: { url: "ftp://typed.example/" }, at: "url" },
  "polls/try": { fields: { every_seconds: "seldom" }, at: "every_seconds" },
  "polls/{id}/change": { fields: { every_seconds: "seldom" }, at: "every_seconds" },
  "polls/{id}/try": { fields: { every_seconds: "15m", pointer: "no pointer" }, at: "pointer" },
  "sign-in": { fields: { name: "Nobody" }, at: null },
  sources: { fields: { name: LONG }, at: "name" },
  "sources/{id}/proof": { fields: { kind: "turnstile", site_key: "0x4", secret: "" }, at: "secret" },
  "sources/{id}/challenge": { fields: { provider: "meta", secret: "" }, at: "secret" },
  "sources/{id}/change": { fields: { thanks_url: "ftp://typed.example/" }, at: "thanks_url" },
  "sources/{id}/delete": { fields: { confirm: "another source" }, at: "confirm" },
  "sources/{id}/late": { fields: {}, at: null },
  "sources/{id}/verify": { fields: { recipe: "hmac", header: "no header" }, at: "header" },
  "tables/{schema}/{name}/columns/{column}": {
    on: "tables/sources/orders/columns/customer?type=numeric",
    fields: { type: "boolean", number_notation: "comma" },
    at: "type",
  },
  "tables/{schema}/{name}/columns/{column}/label": { fields: { label: LONG }, at: "label" },
  "tables/{schema}/{name}/filter": { fields: { line: "total >" }, at: "line" },
  "tables/{schema}/{name}/indexes/build": { fields: { column: "" }, at: "column" },
  "tables/{schema}/{name}/jump": { fields: { value: "no number" }, at: "value" },
  "tables/{schema}/{name}/latest": { fields: { view: "noschema" }, at: "view" },
  "tables/{schema}/{name}/rebuild": { fields: { column: "customer", name: "No name" }, at: "name" },
  "tables/{schema}/{name}/select": { fields: { fc: "total", fo: "gt", fv: "no number" }, at: "fv" },
  tokens: { fields: { name: LONG }, at: "name" },
  views: { fields: { title: LONG }, at: "title" },
  welcome: { fields: { link: "dcl_typed" }, at: "link" },
}

/**
 * Forms that refuse no input: an unknown choice means the default, a filter of a list finds nothing, and a request is
 * reread only in an offered charset.
 */
export const NEVER_REFUSED: ReadonlySet<string> = new Set([
  "audit",
  "deliveries",
  "events",
  "events/{id}/reread",
  "go",
  "inbox/{id}",
  "inbox/{id}/fields",
  "me",
  "me/keys",
  "me/look",
  "tables",
  "trash",
])
