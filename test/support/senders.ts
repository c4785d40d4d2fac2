/** Bodies and headers of well-known senders, from their public documentation. */

const CURL = { "user-agent": "curl/7.88.1", accept: "*/*" }

/** `curl -d name=Иван -d tags[]=a -d tags[]=b --data-urlencode "note=1 + 1 & 2"`, as recorded. */
export const curlForm = {
  headers: { ...CURL, "content-type": "application/x-www-form-urlencoded" },
  body: "name=Иван&tags[]=a&tags[]=b&note=1+%2B+1+%26+2",
}

/** `curl -F name=Иван -F "file=@смета.csv;type=text/csv"`, as recorded. */
export const curlFile = {
  headers: { ...CURL, "content-type": "multipart/form-data; boundary=------------------------9217724f7c56aa7b" },
  body: [
    "--------------------------9217724f7c56aa7b",
    'Content-Disposition: form-data; name="name"',
    "",
    "Иван",
    "--------------------------9217724f7c56aa7b",
    'Content-Disposition: form-data; name="file"; filename="смета.csv"',
    "Content-Type: text/csv",
    "",
    "a;b\n",
    "--------------------------9217724f7c56aa7b--",
    "",
  ].join("\r\n"),
}

export const stripeEvent = {
  headers: {
    "content-type": "application/json; charset=utf-8",
    "user-agent": "Stripe/1.0 (+https://stripe.com/docs/webhooks)",
    "stripe-signature": "t=1492774577,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd",
    accept: "*/*; q=0.5, application/xml",
  },
  body: `{
  "id": "evt_1NG8Du2eZvKYlo2CUI79vXWy",
  "object": "event",
  "api_version": "2019-02-19",
  "created": 1686089970,
  "data": {
    "object": {
      "id": "seti_1NG8Du2eZvKYlo2C9XMqbR0x",
      "amount": 2000,
      "fee": 0.10,
      "automatic_payment_methods": null,
      "metadata": {},
      "payment_method_types": [
        "acss_debit",
        "card"
      ]
    },
    "previous_attributes": {}
  },
  "livemode": false,
  "pending_webhooks": 0,
  "request": {
    "id": null,
    "idempotency_key": null
  },
  "type": "setup_intent.created"
}`,
}

export const githubPush = {
  headers: {
    "content-type": "application/json",
    "user-agent": "GitHub-Hookshot/044aadd",
    "x-github-event": "push",
    "x-github-delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
    "x-hub-signature-256": `sha256=${"ab".repeat(32)}`,
  },
  body: '{"ref":"refs/heads/main","before":"0000000000000000000000000000000000000000","repository":{"id":186853002,"name":"Hello","owner":{"login":"Codertocat","url":"https://api.github.com/users/Codertocat"},"size":0.0,"pushed_at":1557933657},"commits":[{"message":"Update \\u2713 \\"quotes\\" \\\\ and\\nlines","distinct":true,"added":[],"modified":["README.md"]}],"head_commit":null}'
    // GitHub escapes no letters in JSON, and its other escapes are in their shortest form.
    .replace("\\u2713", "✓"),
}

export const telegramUpdate = {
  headers: { "content-type": "application/json", "x-telegram-bot-api-secret-token": "token" },
  body: '{"update_id":10000,"message":{"date":1441645532,"chat":{"last_name":"Тест","id":-1001234567890123,"type":"private"},"message_id":1365,"from":{"id":9007199254740993,"is_bot":false},"text":"/start 👋","entities":[{"offset":0,"length":6,"type":"bot_command"}]}}',
}

const ESCAPED = /[^A-Za-z0-9*\-._ ]/

const WINDOWS_1251: ReadonlyMap<string, number> = new Map(
  Array.from({ length: 128 }, (_, n) => [new TextDecoder("windows-1251").decode(Uint8Array.of(128 + n)), 128 + n]),
)

/** Encodes text in a charset, which must have all its characters. */
export const bytesOf = (text: string, charset: "utf-8" | "windows-1251"): Buffer =>
  charset === "utf-8"
    ? Buffer.from(text)
    : Buffer.from([...text].map((character) => WINDOWS_1251.get(character) ?? character.charCodeAt(0)))

const percent = (text: string, charset: "utf-8" | "windows-1251") =>
  [...bytesOf(text, charset)]
    .map((byte) => {
      const character = String.fromCharCode(byte)
      if (character === " ") return "+"
      return byte < 128 && !ESCAPED.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`
    })
    .join("")

/** A form as a browser submits it from a page in this charset, which it does not declare. */
export const browserForm = (
  enctype: "application/x-www-form-urlencoded" | "multipart/form-data" | "text/plain",
  charset: "utf-8" | "windows-1251",
  fields: ReadonlyArray<readonly [name: string, value: string]>,
) => {
  const boundary = "----WebKitFormBoundary7MA4YWxkTrZu0gW"
  const headers = {
    "content-type": enctype === "multipart/form-data" ? `${enctype}; boundary=${boundary}` : enctype,
    accept: "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8",
    "accept-language": "ru-RU,ru;q=0.9,en-US;q=0.8,en;q=0.7",
    origin: "https://shop.example",
    referer: "https://shop.example/",
    "user-agent":
      "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36",
  }
  const encode = (text: string) => bytesOf(text, charset)
  switch (enctype) {
    case "application/x-www-form-urlencoded":
      return {
        headers,
        body: Buffer.from(
          fields.map(([name, value]) => `${percent(name, charset)}=${percent(value, charset)}`).join("&"),
        ),
      }
    case "multipart/form-data":
      return {
        headers,
        body: Buffer.concat([
          ...fields.map(([name, value]) =>
            encode(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`),
          ),
          encode(`--${boundary}--\r\n`),
        ]),
      }
    case "text/plain":
      return { headers, body: encode(fields.map(([name, value]) => `${name}=${value}\r\n`).join("")) }
  }
}
