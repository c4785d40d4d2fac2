/**
 * The Helm chart of integrations/, as Helm renders it, and what the compiler says about its objects with the types of Kubernetes.
 * `.ci/helm` fetches both.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert } from "vitest"
import { parseAllDocuments } from "yaml"

const root = fileURLToPath(new URL("../../", import.meta.url))
const folder = join(root, "node_modules/.data-cabinet/helm")

/** Its folder. */
export const chart = join(root, "integrations/helm")

/** Whether Helm is here. */
export const hasHelm = existsSync(join(folder, "done"))

interface Container {
  readonly args: ReadonlyArray<string>
  readonly envFrom?: ReadonlyArray<{ readonly secretRef: { readonly name: string } }>
  readonly env: ReadonlyArray<{
    readonly name: string
    readonly value?: string
    readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } }
  }>
  readonly ports?: ReadonlyArray<{ readonly name: string }>
  readonly [name: string]: unknown
}

export interface PodSpec {
  readonly containers: readonly [Container]
  readonly [name: string]: unknown
}

export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> }
  readonly spec: {
    readonly replicas?: number
    readonly selector?: Readonly<Record<string, unknown>>
    readonly ports?: ReadonlyArray<{ readonly targetPort: string }>
    readonly template?: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> }
      readonly spec: PodSpec
    }
    readonly [name: string]: unknown
  }
}

/** Runs Helm in the chart's folder. */
export const helm = (...args: ReadonlyArray<string>) =>
  spawnSync(join(folder, "helm/helm"), args, { cwd: chart, encoding: "utf8" })

/** What Helm prints for some values. */
export const template = (values: object) =>
  spawnSync(join(folder, "helm/helm"), ["template", "shop", ".", "--namespace", "data", "--values", "-"], {
    cwd: chart,
    encoding: "utf8",
    input: JSON.stringify(values),
  })

/** The objects that Helm makes of some values. */
export const render = (values: object): ReadonlyArray<KubernetesObject> => {
  const { status, stdout, stderr } = template(values)
  assert.strictEqual(status, 0, stderr)
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as KubernetesObject | null)
    .filter((one) => one !== null)
}

/** Where the types of a kind are; those of CloudNativePG are what its recipe in docs/high-availability.md uses, and no more. */
const MODULES: Readonly<Record<string, string>> = {
  "monitoring.coreos.com/v1": "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1",
}

const CLUSTER = `interface ICluster { apiVersion: "postgresql.cnpg.io/v1"; kind: "Cluster"
  metadata: { name: string; labels: Record<string, string>; annotations: Record<string, string> }
  spec: { instances: number; imageName?: string; storage: { size: string; storageClass?: string }
    postgresql: { synchronous?: { method: "any" | "first"; number: number; dataDurability: "required" | "preferred" }
      parameters: Record<string, string> }
    bootstrap: { initdb: { database: string; owner: string; encoding: string; localeCType: string; localeCollate: string
      postInitSQL: string[] } } } }\n`

/** What the compiler says about objects. */
export const complaints = (objects: ReadonlyArray<KubernetesObject>): string => {
  const place = mkdtempSync(join(folder, "check-"))
  try {
    const kinds = new Map(objects.map(({ apiVersion, kind }) => [kind, apiVersion]))
    const imports = [...kinds]
      .filter(([kind]) => kind !== "Cluster")
      .map(([kind, version]) => {
        const path = version === "v1" ? "kubernetes-models/v1" : `kubernetes-models/${version}`
        return `import type { I${kind} } from "${MODULES[version] ?? path}"\n`
      })
    const values = objects.map((object, n) => `const o${n}: I${object.kind} = ${JSON.stringify(object)}\n`)
    writeFileSync(join(place, "chart.ts"), `${imports.join("")}${CLUSTER}${values.join("")}export {}\n`)
    const options = ["--noEmit", "--strict", "--skipLibCheck", "--target", "esnext", "--module", "nodenext"]
    const tsc = join(root, "node_modules/.bin/tsc")
    return spawnSync(tsc, ["--ignoreConfig", ...options, join(place, "chart.ts")], { encoding: "utf8" }).stdout
  } finally {
    rmSync(place, { recursive: true })
  }
}
