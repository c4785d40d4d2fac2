/** Certificate authorities for a test, and their certificates, created by openssl in a directory that is removed afterwards. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export interface Issued {
  readonly cert: string
  readonly key: string
}

export interface IssueOptions {
  /** When it ends, in days from now. */
  readonly from?: number
  readonly to?: number
  /** Arguments of `openssl genpkey`. */
  readonly key?: ReadonlyArray<string>
  /** Whether it is itself an authority. */
  readonly authority?: boolean
}

const P256 = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]

const CONFIG = `[ca]
default_ca=here
[here]
database=index
serial=serial
new_certs_dir=.
default_md=sha256
policy=any
unique_subject=no
copy_extensions=copy
certificate=ca.pem
private_key=ca.key
[any]
commonName=supplied
`

/** Formats a time for openssl: 20261126103000Z. */
const dateOf = (days: number): string =>
  `${new Date(Date.now() + days * 86_400_000).toISOString().replaceAll(/[-:T]|\..*$/g, "")}Z`

export class Authority {
  readonly #dir = mkdtempSync(join(tmpdir(), "dc-ca-"))
  readonly cert: string

  /** Without a certificate of its own, it is the first of its chain. */
  constructor(name: string, own?: Issued) {
    writeFileSync(join(this.#dir, "ca.cnf"), CONFIG)
    writeFileSync(join(this.#dir, "index"), "")
    writeFileSync(join(this.#dir, "serial"), "01\n")
    if (own === undefined) {
      this.#openssl("genpkey", ...P256, "-out", "ca.key")
      const isAuthority = "basicConstraints=critical,CA:TRUE"
      const named = ["-subj", `/CN=${name}`, "-days", "9"]
      this.#openssl("req", "-x509", "-key", "ca.key", ...named, "-addext", isAuthority, "-out", "ca.pem")
    } else {
      writeFileSync(join(this.#dir, "ca.key"), own.key)
      writeFileSync(join(this.#dir, "ca.pem"), own.cert)
    }
    this.cert = this.#read("ca.pem")
  }

  /** For a client of this name, or for a server on the loopback. */
  issue(name: string, { from = -1, to = 5, key = P256, authority = false }: IssueOptions = {}): Issued {
    this.#openssl("genpkey", ...key, "-out", "one.key")
    const extension = authority ? "basicConstraints=critical,CA:TRUE" : "subjectAltName=IP:127.0.0.1"
    this.#openssl("req", "-new", "-key", "one.key", "-subj", `/CN=${name}`, "-addext", extension, "-out", "one.csr")
    const dates = ["-startdate", dateOf(from), "-enddate", dateOf(to)]
    this.#openssl("ca", "-batch", "-notext", "-config", "ca.cnf", "-in", "one.csr", ...dates, "-out", "one.pem")
    return { cert: this.#read("one.pem"), key: this.#read("one.key") }
  }

  /** Converts the key to another format. */
  convert(key: string, ...words: ReadonlyArray<string>): string {
    writeFileSync(join(this.#dir, "in.key"), key)
    this.#openssl(...words, "-in", "in.key", "-out", "out.key")
    return this.#read("out.key")
  }

  #read(name: string): string {
    return readFileSync(join(this.#dir, name), "utf8")
  }

  remove(): void {
    rmSync(this.#dir, { recursive: true })
  }

  #openssl(...words: ReadonlyArray<string>): void {
    execFileSync("openssl", words, { cwd: this.#dir, stdio: "pipe" })
  }
}
