/**
 * The Helm chart, linted and rendered by Helm itself (`.ci/helm`) with everything switched on and off. Every object is checked
 * against the types of Kubernetes, in which a wrong name is an error as a wrong value is; and they fit each other.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { SETTINGS } from "data-cabinet/settings/Settings"
import { assert, it } from "vitest"
import { parse, parseAllDocuments } from "yaml"
import { chart, complaints, hasHelm, helm, type KubernetesObject, render, template } from "../support/helmChart.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))

if (!hasHelm) console.log("There is no Helm here: .ci/helm fetches it")
const itRendered = hasHelm ? it : () => {}

const BASE = { baseUrl: "https://data.example.com/sub", existingSecret: "mine" }

const WHOLE = {
  baseUrl: BASE.baseUrl,
  trustedProxies: "10.244.3.0/24",
  imagePullSecrets: [{ name: "registry" }],
  env: [{ name: "CABINET_DRAIN_TIME", value: "5" }],
  secret: { CABINET_SECRET_KEY: "none" },
  database: {
    kind: "cloudnativepg",
    cloudnativepg: { imageName: "ghcr.io/cloudnative-pg/postgresql:18", storage: { storageClass: "fast" } },
  },
  serve: { autoscaling: { enabled: true }, nodeSelector: { zone: "a" }, tolerations: [{ operator: "Exists" }] },
  ingress: { enabled: true, className: "nginx", annotations: { a: "b" }, tlsSecret: "tls" },
  metrics: { serviceMonitor: { enabled: true, labels: { release: "prometheus" } } },
  networkPolicy: {
    enabled: true,
    from: [{ namespaceSelector: { matchLabels: { name: "ingress" } } }],
    databaseTo: [{ ipBlock: { cidr: "10.1.2.3/32" } }],
  },
}

const OFF = {
  ...BASE,
  serve: { podDisruptionBudget: { enabled: false } },
  worker: { podDisruptionBudget: { enabled: false } },
}

const ALONE = {
  ...BASE,
  database: { kind: "cloudnativepg", cloudnativepg: { instances: 1 } },
  ingress: { enabled: true },
}

interface SchemaPart {
  readonly properties?: Readonly<Record<string, SchemaPart>>
}

/** The values that a schema does not name. */
const unplaced = ({ properties }: SchemaPart, values: object): ReadonlyArray<string> =>
  Object.entries(values).flatMap(([name, value]: [string, unknown]) => {
    const part = properties?.[name]
    if (part === undefined) return [name]
    const isNested = part.properties !== undefined && typeof value === "object" && value !== null
    return isNested ? unplaced(part, value).map((below) => `${name}.${below}`) : []
  })

const renderings = hasHelm ? [BASE, WHOLE, OFF, ALONE, { ...BASE, networkPolicy: { enabled: true } }].map(render) : []

it("the chart and its README have one version, and every value has a place in the schema", () => {
  const { version } = parse(readFileSync(join(chart, "Chart.yaml"), "utf8")) as { readonly version: string }
  assert.include(readFileSync(join(chart, "README.md"), "utf8"), `\nVersion ${version}, for `)
  const schema = JSON.parse(readFileSync(join(chart, "values.schema.json"), "utf8")) as SchemaPart
  const values = parse(readFileSync(join(chart, "values.yaml"), "utf8")) as object
  assert.deepStrictEqual(unplaced(schema, values), [])
  assert.deepStrictEqual(unplaced(schema, { ...values, replica: 1 }), ["replica"])
})

const named = (objects: ReadonlyArray<KubernetesObject>) =>
  objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()

itRendered("helm lints it without a complaint, and renders the objects that the values switch on", () => {
  const { status, stdout } = helm("lint", ".", "--strict", "--set", "baseUrl=https://a.example,existingSecret=x")
  assert.strictEqual(status, 0, stdout)
  const [name, plain] = ["shop-data-cabinet", ["Deployment", "PodDisruptionBudget"]]
  const least = [
    ...plain.flatMap((kind) => [`${kind} ${name}`, `${kind} ${name}-worker`]),
    `Service ${name}`,
    `Service ${name}-metrics`,
  ]
  assert.deepStrictEqual(named(renderings[0]!), least)
  const more = ["HorizontalPodAutoscaler", "Ingress", "Secret", "ServiceMonitor"].map((kind) => `${kind} ${name}`)
  const policies = ["serve", "worker"].map((component) => `NetworkPolicy ${name}-${component}`)
  assert.deepStrictEqual(named(renderings[1]!), [...least, ...more, ...policies, `Cluster ${name}-postgres`].sort())
  assert.deepStrictEqual(
    named(renderings[2]!),
    least.filter((one) => !one.startsWith("Pod")),
  )
})

itRendered("every object fits the types of Kubernetes, and one with a wrong name does not", () => {
  const objects = renderings.flat()
  assert.strictEqual(complaints(objects), "")
  const [deployment] = objects.filter(({ kind }) => kind === "Deployment")
  const wrong = { ...deployment!, spec: { ...deployment!.spec, replica: 2 } }
  assert.match(complaints([wrong]), /"replica"' does not exist/)
})

const fits = (selector: object, labels: Readonly<Record<string, string>>) =>
  Object.entries(selector).every(([name, value]) => labels[name] === value)

itRendered("selectors, ports, secrets and variables lead to what is there", () => {
  const settings = new Set(Object.values(SETTINGS).map(({ env }) => env))
  for (const objects of renderings) {
    const deployments = objects.filter(({ kind }) => kind === "Deployment")
    const pods = deployments.map(({ spec }) => spec.template!)
    const of = (kind: string) => objects.filter((object) => object.kind === kind)
    const chosen = (selector: object) => pods.filter(({ metadata }) => fits(selector, metadata.labels))
    for (const { spec } of of("Service")) {
      assert.lengthOf(chosen(spec.selector!), 1)
      const ports = chosen(spec.selector!)[0]!.spec.containers[0].ports!.map(({ name }) => name)
      for (const { targetPort } of spec.ports!) assert.include(ports, targetPort)
    }
    for (const { spec } of [...of("PodDisruptionBudget"), ...of("Deployment")]) {
      assert.lengthOf(chosen(spec.selector!["matchLabels"] as object), 1)
    }
    for (const { spec } of of("NetworkPolicy")) {
      assert.lengthOf(chosen((spec["podSelector"] as { readonly matchLabels: object }).matchLabels), 1)
    }
    for (const { spec } of of("ServiceMonitor")) {
      const labels = spec.selector!["matchLabels"] as object
      assert.lengthOf(
        of("Service").filter(({ metadata }) => fits(labels, metadata.labels)),
        1,
      )
    }
    const clusters = of("Cluster").map(({ metadata }) => metadata.name)
    const secrets = new Set([
      "mine",
      ...of("Secret").map(({ metadata }) => metadata.name),
      ...clusters.flatMap((name) => [`${name}-app`, `${name}-ca`]),
    ])
    for (const { spec } of pods) {
      const [{ env, envFrom = [] }] = spec.containers
      for (const { secretRef } of envFrom) assert.include([...secrets], secretRef.name)
      for (const { name, valueFrom } of env) {
        assert.isTrue(settings.has(name) || /^DATABASE_(LOGIN|PASSWORD)$/.test(name), name)
        if (valueFrom !== undefined) assert.include([...secrets], valueFrom.secretKeyRef.name)
      }
    }
  }
})

itRendered("its pods are those of deploy/kubernetes", () => {
  const known = parseAllDocuments(readFileSync(join(root, "deploy/kubernetes/data-cabinet.yaml"), "utf8")).map(
    (document) => document.toJS() as KubernetesObject,
  )
  const podOf = (objects: ReadonlyArray<KubernetesObject>, name: string) =>
    objects.find(({ kind, metadata }) => kind === "Deployment" && metadata.name === name)!.spec.template!.spec
  for (const [theirs, ours] of [
    ["data-cabinet", "shop-data-cabinet"],
    ["data-cabinet-worker", "shop-data-cabinet-worker"],
  ] as const) {
    const [expected, pod] = [podOf(known, theirs), podOf(renderings[0]!, ours)]
    const { containers, ...rest } = expected
    const { env: _env, envFrom: _from, image, ...container } = containers[0]
    assert.deepNestedInclude({ ...pod }, rest)
    assert.deepNestedInclude({ ...pod.containers[0] }, container)
    const { appVersion } = parse(readFileSync(join(chart, "Chart.yaml"), "utf8")) as { readonly appVersion: string }
    assert.strictEqual(image, `data-cabinet:${appVersion}`)
    assert.strictEqual(pod.containers[0]["image"], image)
  }
})

itRendered("values that would not start are refused with their reason", () => {
  const refused: ReadonlyArray<readonly [object, RegExp]> = [
    [{}, /baseUrl is required: the address/],
    [{ baseUrl: "https://a.example" }, /needs existingSecret, a secret with DATABASE_URL/],
    [{ ...BASE, secret: { A: "b" } }, /either existingSecret or secret/],
    [{ baseUrl: "https://a.example", secret: { A: "b" } }, /secret has no DATABASE_URL/],
    [{ ...BASE, replicas: 3 }, /additional properties 'replicas' not allowed/],
    [{ ...BASE, baseUrl: "data.example.com" }, /baseUrl/],
  ]
  for (const [values, reason] of refused) {
    const { status, stderr } = template(values)
    assert.notStrictEqual(status, 0, JSON.stringify(values))
    assert.match(stderr, reason)
  }
})
