/**
 * The management API as documented: the tables of actions and of errors in `docs/management-api.md` are generated here
 * (`vitest run -u` writes them) and compared with the code.
 */
import { ROLE_NEEDED } from "@data-cabinet/core/key/Role"
import { MANAGE_CODES, type ManageCode, manageType } from "@data-cabinet/http-node/manage/ManageCode"
import { expect, it } from "vitest"

const PAGE = `# The management API

Everything that the \`cabinet\` command manages, over HTTP at \`/manage/v1\`: sources and columns, events and the trash, keys and
tokens, delivery addresses and deliveries, imports and polls, schemas and search indexes. The read API, \`/api/v1\`, stays as it
is: only GET.

\`\`\`sh
TOKEN=$(npx cabinet token add "Deployment" --role editor --expires 90d --get token)
curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8080/manage/v1/sources
curl -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\
  -d '{"name":"Orders"}' http://127.0.0.1:8080/manage/v1/sources
\`\`\`

The reference page is at \`/manage/v1/docs\`, its OpenAPI 3.1 document at \`/manage/v1/openapi.json\` (with a token of any role).
Responses have the shapes of the command's \`--json\`; lists are in \`data\`, with \`has_more\` and \`next_cursor\`. Tables, their
rows and the feed are also at \`/manage/v1/tables…\` and \`/manage/v1/feed\`, with the parameters and the bytes of the read API.

## Tokens and roles

An access token is shown once, when it is issued; only its hash is kept. One that was revoked or has expired is refused at the
next request by every process. API keys are not accepted here. The read API accepts tokens that may \`row.read\` as it does keys:
in \`Authorization: Bearer\` or \`X-Api-Key\`, at the rate of a key, counted per token.

| Role | May |
|---|---|
| \`owner\` | everything |
| \`editor\` | everything except people, tokens, the audit log, the login for reports, erasing events, deleting sources, and adding and exposing schemas |
| \`viewer\` | read everything that an editor reads, but no secrets, and save views |
| \`uploader\` | upload files to \`POST /upload/{source_id}\`, and nothing else; the default role of a token |
| \`reader\` | read tables, rows and the feed, and nothing else |

A key sees the whole cabinet. To let a client see less, issue a \`reader\` token with a list:

\`\`\`sh
npx cabinet token add "Accountant" --role reader --only sources.orders --only public.totals --expires 90d
\`\`\`

For such a token nothing else exists: the read API's lists and its feed have only what is listed, and any other name or
\`source_id\` is 404. The table of a source stands for the source, with its events; a view can be listed without its tables, and its
\`definition\` is null, because it names them. A token with a list is refused by the management API (403).

Sources are listed by id and all other objects by oid, and \`token list\` shows them by the names that they have now: one that was
renamed or moved to another schema stays listed, one that was dropped is listed no longer, and a new one with an old name is not
listed. Nothing is left of a list whose objects were all dropped, and its token reads nothing. \`cabinet tenant move\` brings lists along
whole. In any other copy by \`pg_dump\` only sources stay listed, because the other objects have new oids there.

The lowest role that each action needs (\`owner\` includes \`editor\`, which includes \`viewer\` and \`uploader\`; \`viewer\` includes \`reader\`):

| Action | Role |
|---|---|
${Object.entries(ROLE_NEEDED)
  .map(([action, role]) => `| \`${action}\` | ${role} |\n`)
  .join("")}
Lists contain no secrets: intake addresses and signing secrets are shown when they are created and by \`POST …/reveal\`; the values
of a poll's headers are never shown.

## People and sessions

People sign in to the console, at \`/console/sign-in\`, and act here by the same session. \`POST /manage/v1/people\` invites one: the
response has a one-time link, shown only then, with its secret in the fragment, which no proxy logs. It is valid for a day;
a later one (\`POST …/people/{id}/link\`) for ten minutes, and replaces the previous one. \`npx cabinet console\` prints a
link on the server, which is also the way back in. A password (\`POST /manage/v1/me/password\`) has 12 to 200 characters and is stored
as an scrypt hash; setting it ends the person's other sessions. It needs the current one, except in the first 15 minutes after a
sign-in by link that somebody else or the command issued, and accepts five guesses a minute.

- A session is an \`HttpOnly\`, \`SameSite=Lax\` cookie of 256 random bits, of which only the SHA-256 is stored. Where \`BASE_URL\`
  is https with a path, a second cookie holds its digest, so that no other host of the domain can set one. It ends after 12 hours
  without a request, after 30 days, at sign-out, or when the person is removed. Roles are read at every request.
- A request of a session that changes something must come from a page of the cabinet itself (\`Sec-Fetch-Site\`, or \`Origin\` where a
  browser does not send that); otherwise it gets 403 \`cross_origin\`.
- A client's address may try 10 passwords a minute, and 5 per account (counted separately for the address that the person last
  signed in from). A browser in which the person signed in before is counted by itself, by a cookie that is not a credential: 5 a
  minute, whatever others send from its address. A process compares one password at a time, and its cabinets take turns; when more
  than ten of a cabinet are waiting, further ones get 429. Links cannot be guessed: after 60 wrong ones a minute, those of the
  same address are looked up one after the other. A wrong, a used and an expired link get the same response, and so do a wrong
  name and a wrong password.
- After 600 wrong tokens or sessions a minute from one address, a credential that worked within the hour is looked up at once, and
  others one after the other. When 20 of an address are waiting, further ones get 429.
- The last owner can be neither removed nor given a lesser role.

## Requests

- Checks come in this order: path (404), method (405, with \`Allow\`), credentials (401), origin of a session's change (403), rate (429), role (403), form of the path,
  unknown and invalid parameters (400), content type (415), size (413, 1 MiB), JSON (400, with line and column), form of the body
  (400), form of the idempotency key (400), and only then the work itself.
- Bodies are \`application/json\` in UTF-8. Unknown fields and unknown parameters are refused.
- A token may make 300 requests a minute and a session 1,200, counted across all processes. \`X-RateLimit-Limit\` and \`X-RateLimit-Remaining\` are on
  every response to valid credentials; 429 and 503 have \`Retry-After\`.
- \`keep_headers\`, \`header_fields\` and \`keep_query\` of a source are [what it keeps](intake.md#fields-in-headers) of a request; an event's
  \`original\` has it as \`kept_headers\` and \`query\`.
- \`verify\` of a source is [how its sender is verified](verification.md). Its \`secret\` is write-only; omitted members stay as they
  are, and null ends the verification.
- \`DELETE /manage/v1/sources/{id}\` requires \`?table=keep\` or \`?table=drop\`.

## Repeating a request

A POST that creates or sends something takes an \`Idempotency-Key\`: 1 to 255 visible ASCII characters that the client chooses, such as
a UUID. It is kept for 24 hours, separately for each token and person.

- A repeat of the request (the same method, address and body, byte for byte) does nothing and gets the first response, with
  \`Idempotent-Replay: true\`. Secrets are not kept: a repeated creation responds with 200 and the resource without its key, token,
  intake address, signing secret or link, and the URL of an address or a poll without its query.
- The key with another request gets 422 \`idempotency_mismatch\`; while the first one is in progress, 409 \`in_progress\`.
- Nothing is kept of a refused request: it may be corrected and sent under the same key.
- Work within the database and the record of its response are one transaction. Work that began and has not ended after 60
  seconds, because its process was killed, gets 409 \`outcome_unknown\`: check whether it was done, then send it with a new key. For
  pings, test events, runs of a poll and resent ranges, which reach beyond one transaction, it may have been done.
- So it is with what replaces a secret (rotate, a person's link, the password of the login for reports): a repeat replaces nothing,
  and \`reveal\` shows the signing secret or the intake address whose response was lost.
- The header is ignored where repeating is harmless (revoke, pause, trash), where all that a request does is show a secret (reveal),
  and for passwords of people and sign-in.

Records hold keyed hashes of the key and the request, under a secret of the database, and the response without secrets.

## Events and the trash

\`GET /manage/v1/events\` lists events newest first: each as in the feed, with its \`state\`, its deliveries by state, and who moved
it to the trash. Filters (\`source_id\`, \`channel\`, \`state\`, \`event\`, \`text\`, \`from\`, \`to\`) apply together. A page ends after about a
second, and may then be short, even empty. \`searched_to\` says how far back it looked; it is null when everything was searched.
Continue while \`next_cursor\` is not null. \`state=trashed\` lists the trash, most recently trashed first. \`text\` is searched in the
payload as it was sent.

## Positions of clients

\`GET /manage/v1/followers\` lists the work behind the feed, and the positions that the cabinet [keeps for clients](feed.md#a-position-that-the-cabinet-keeps)
(\`kind\` \`client\`): each with its lag in events and seconds, its last error, and the name of its \`key\`.
\`POST /manage/v1/followers/{id}/reset\` sets a client's position, \`DELETE /manage/v1/followers/{id}\` forgets it. Both need the role
\`editor\`. Replacing a key (\`rotate\`) passes its positions on; they end with the last of these keys.

## Deliveries

\`GET /manage/v1/deliveries\` lists the deliveries of all addresses, newest attempt first; one without an attempt counts by its
creation. Each has its \`last_attempt\`: when, its status, how long it took, and the \`reason\` of a failure as a sentence. Filters apply
together:

| Parameter | Only deliveries |
|---|---|
| \`outcome\` | whose last attempt ended so: \`delivered\`, \`refused\` (a 4xx), \`error\` (any other status but a 2xx) or \`no_answer\` |
| \`state\` | in this state: \`due\`, \`delivered\`, \`failed\` (a ping) or \`cancelled\` |
| \`retrying\` | \`true\`: that wait for another attempt after a failed one |
| \`address_id\`, \`source_id\`, \`event_id\` | to this address, of this source's events, of this event |
| \`from\`, \`to\` | last attempted, or before the first attempt created, at or after \`from\`, and before \`to\` |

A page ends after about a second, and may then be short, even empty: \`searched_to\` says how far back it looked. Continue with
\`next_cursor\` as \`before\` while it is not null. \`POST /manage/v1/deliveries/resend\` with the same names in its body sends all of a list
again; with \`"dry_run": true\` it only counts them.

## From the command line

\`cabinet --server https://data.example.com source list\` runs the same commands on a remote cabinet, with an access token in
\`CABINET_TOKEN\`, or in the file that \`CABINET_TOKEN_FILE\` names; never in an argument, which every user of a machine can read.
Output, \`--json\`, errors and exit codes are the same as with a local database. Commands about the machine itself
(\`serve\`, \`worker\`, \`migrate\`, \`backup\`, \`restore\`, \`sql\`, \`tenant\`, \`console\`) refuse \`--server\`, and so do settings of the server,
such as \`--allowed-networks\`. \`--curl\` prints the request as a command line, with the token as \`$CABINET_TOKEN\`, and sends
nothing; only names (\`source show Orders\`) are looked up.

## The audit log

\`GET /manage/v1/audit\` (owner) lists who did what: a person, a token, a user of the command (\`cli\`), or the embedding program. The intent is written before an action begins and its outcome after it has ended; an action that cannot be logged does not
begin (503), and an entry without an outcome belongs to an action in progress or to a process that was killed. Entries name the fields
that were set, never a secret: URLs are listed without their query. Showing a secret is an action as well. The log is kept for
\`CABINET_AUDIT_DAYS\` (400).

## Errors

They have the read API's shape. \`param\` is a query parameter, a part of the path, or a JSON pointer into the body:

\`\`\`json
{ "error": { "type": "invalid_request", "code": "bad_body", "message": "/name: Expected string.", "param": "/name" } }
\`\`\`

| Code | Status | Type | When |
|---|---|---|---|
`

const table = () =>
  (Object.keys(MANAGE_CODES) as Array<ManageCode>)
    .map(
      (code) =>
        `| \`${code}\` | ${MANAGE_CODES[code].status} | \`${manageType(code)}\` | ${MANAGE_CODES[code].meaning} |\n`,
    )
    .join("")

it("docs/management-api.md matches the tables of actions and codes", async () => {
  await expect(PAGE + table()).toMatchFileSnapshot("../../../../docs/management-api.md")
})
