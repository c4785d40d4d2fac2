/** Users of a broker that trusts an operator: each is a JWT, signed by an account, which the operator has signed. */
import { randomBytes } from "node:crypto"
import { nkeys } from "@nats-io/transport-node"

type KeyPair = ReturnType<typeof nkeys.createUser>

const encoded = (value: object | Uint8Array): string =>
  Buffer.from(value instanceof Uint8Array ? value : JSON.stringify(value)).toString("base64url")

const signed = (by: KeyPair, subject: KeyPair, nats: object): string => {
  const head = encoded({ typ: "JWT", alg: "ed25519-nkey" })
  const claims = {
    jti: randomBytes(16).toString("hex"),
    iat: Math.floor(Date.now() / 1_000),
    iss: by.getPublicKey(),
    name: "test",
    sub: subject.getPublicKey(),
    nats: { version: 2, ...nats },
  }
  const text = `${head}.${encoded(claims)}`
  return `${text}.${encoded(by.sign(Buffer.from(text)))}`
}

const ANY = { subs: -1, data: -1, payload: -1 }
const ACCOUNT = { ...ANY, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 }
const STREAMS = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 }

/** The settings of a broker, and a maker of its users. */
export const jwtService = () => {
  const operator = nkeys.createOperator()
  const account = nkeys.createAccount()
  const system = nkeys.createAccount()
  const jwts = [
    [account, signed(operator, account, { type: "account", limits: { ...ACCOUNT, ...STREAMS } })],
    [system, signed(operator, system, { type: "account", limits: ACCOUNT })],
  ] as const
  const preload = jwts.map(([pair, jwt]) => `${pair.getPublicKey()}: ${jwt}`).join("\n")
  return {
    settings: `operator: ${signed(operator, operator, { type: "operator", system_account: system.getPublicKey() })}
system_account: ${system.getPublicKey()}
resolver: MEMORY
resolver_preload: {\n${preload}\n}`,
    user: (permissions: object) => {
      const pair = nkeys.createUser()
      return {
        seed: Buffer.from(pair.getSeed()).toString(),
        jwt: signed(account, pair, { type: "user", ...ANY, ...permissions }),
      }
    },
  }
}
