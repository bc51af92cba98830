import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { existsSync, globSync, readFileSync } from "node:fs"
import { stagesOf } from "../../scripts/deploy/check/dockerfile.ts"

const FOLDER = "scripts/deploy/monitoring"
const hasPromtool = spawnSync("promtool", ["--version"]).status === 0

const read = (file: string): string => readFileSync(file, "utf8")

/** Names in the same spelling that are not metrics: two cookies and a channel of PostgreSQL. */
const others = new Set(["fathom_session", "fathom_sign_in", "fathom_changes"])

/** Names of the metrics of live connections. Each kind of socket has them under its prefix. */
const ofSockets = globSync("src/**/*.ts")
  .flatMap((file) => Array.from(read(file).matchAll(/prefix: "(fathom_\w+)"/gu), ([, prefix = ""]) => prefix))
  .flatMap((prefix) => {
    others.add(prefix)
    const suffixes = read("src/live/liveSessions.ts").matchAll(/gauge\("(\w+)"/gu)
    return Array.from(suffixes, ([, suffix = ""]) => `${prefix}_${suffix}`)
  })

/** Metric names that the service exports. */
const exported = new Set([
  ...ofSockets,
  ...globSync("src/**/*.ts").flatMap((file) =>
    Array.from(read(file).matchAll(/"((?:fathom|process|nodejs)_[a-z_]+)"/gu), ([, name = ""]) => name).filter(
      (name) => !others.has(name)
    )
  )
])

/** Metric names in the expressions of a file. Names of histograms lose their suffix. */
const namesIn = (text: string): ReadonlyArray<string> =>
  Array.from(text.matchAll(/\b(?:fathom|process|nodejs)_[a-z_]+/gu), ([name]) =>
    name.replace(/_(?:bucket|count|sum)$/u, "")
  )

/** Values of a chart by their path: two levels of scalars. */
const valuesIn = (text: string): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  let parent = ""
  for (const line of text.split("\n")) {
    const [, indent, name = "", value = ""] = /^( *)(\w+):(?: (.+))?$/u.exec(line) ?? []
    if (indent === "" && value === "") {
      parent = `${name}.`
    } else if (indent !== undefined) {
      found.set(indent === "" ? name : parent + name, value)
    }
  }
  return found
}

/**
 * A template with its values in place, for the few actions that the chart uses: conditions of whole files are dropped, and
 * `settings` are empty. This is not Helm: `npm run deploy:check` renders with Helm where it is installed.
 */
const filledIn = (template: string, values: ReadonlyMap<string, string>): string =>
  template
    .replaceAll(/^\{\{-.*\}\}\n/gmu, "")
    .replaceAll(/\{\{ if \.Values\.settings \}\}.*?\{\{ end \}\}/gu, "")
    .replaceAll(/\{\{ (quote )?\.Values\.([\w.]+) \}\}/gu, (_, quote: string | undefined, path: string) => {
      const value = values.get(path) ?? `no value ${path}`
      return quote === undefined ? value : JSON.stringify(value)
    })

/** Lines of a manifest without comments. A text with quotes is the same as one without. */
const objectsOf = (manifest: string): ReadonlyArray<string> =>
  manifest
    .split("\n")
    .map((line) =>
      line
        .replace(/(?:^|\s)#.*$/u, "")
        .replaceAll('"', "")
        .trimEnd()
    )
    .filter((line) => line !== "")

const alerts = read(`${FOLDER}/alerts.yml`)
const alertNames = Array.from(alerts.matchAll(/alert: (\w+)/gu), ([, name = ""]) => name)

describe("the files of monitoring", () => {
  it.each([`${FOLDER}/alerts.yml`, `${FOLDER}/dashboard.json`, "scripts/deploy/kubernetes/roles.yaml"])(
    "name only metrics that exist: %s",
    (file) => {
      const names = namesIn(read(file))
      assert.isNotEmpty(names)
      assert.deepStrictEqual(
        names.filter((name) => !exported.has(name)),
        []
      )
    }
  )

  it("have a panel for every metric that the service exports", () => {
    const shown = new Set(namesIn(read(`${FOLDER}/dashboard.json`)))
    const unshown = Array.from(exported).filter((name) => !shown.has(name))
    assert.deepStrictEqual(unshown, ["process_start_time_seconds"])
  })

  it.skipIf(!hasPromtool)("are accepted by promtool, which is skipped where it is not installed", () => {
    const { status, stderr } = spawnSync("promtool", ["check", "rules", `${FOLDER}/alerts.yml`], { encoding: "utf8" })
    assert.deepStrictEqual({ status, stderr }, { status: 0, stderr: "" })
  })
})

describe("the files of delivery", () => {
  const DEPLOY = "scripts/deploy"
  const documented = read("docs/settings.md")
  /** Variables that do not belong to the service. */
  const foreign = new Set(["NODE_ENV", "XDG_CACHE_HOME"])
  const stages = stagesOf(read(`${DEPLOY}/Dockerfile`))

  const names = {
    Dockerfile: stages.flatMap(({ env }) => Object.keys(env)),
    "compose.yaml": Array.from(
      /environment:\n(?<block>(?: {6}[^\n]+\n)+)/u
        .exec(read(`${DEPLOY}/compose.yaml`))
        ?.groups?.["block"]?.matchAll(/^ {6}([A-Z_]+):/gmu) ?? [],
      ([, name = ""]) => name
    ),
    "fathom.service": Array.from(
      /^Environment=(.*)$/mu.exec(read(`${DEPLOY}/fathom.service`))?.[1]?.matchAll(/([A-Z_]+)=/gu) ?? [],
      ([, name = ""]) => name
    ),
    ...Object.fromEntries(
      ["kubernetes/fathom.yaml", "kubernetes/roles.yaml"].map((file) => [
        file,
        Array.from(
          read(`${DEPLOY}/${file}`).matchAll(/name: ([A-Z_]+),|from-literal=([A-Z_]+)=/gu),
          ([, name, secret]) => name ?? secret ?? ""
        )
      ])
    )
  }

  it.each(Object.entries(names))("set only settings that exist: %s", (_, found) => {
    assert.isNotEmpty(found)
    assert.deepStrictEqual(
      found.filter((name) => !foreign.has(name) && !documented.includes(`\`${name}\``)),
      []
    )
  })

  it("copy only files that exist and that the build gets", () => {
    const given = read(`${DEPLOY}/Dockerfile.dockerignore`)
      .split("\n")
      .flatMap((line) => (line.startsWith("!") ? [line.slice(1)] : []))
    const copied = stages.flatMap(({ steps }) =>
      steps.flatMap((step) => (step.kind === "copy" && step.from === null ? step.sources : []))
    )
    assert.isNotEmpty(copied)
    assert.deepStrictEqual(
      copied.filter((path) => !existsSync(path) || !given.some((each) => path === each || path.startsWith(`${each}/`))),
      []
    )
  })

  it("allow more time for a stop than the drain may take", () => {
    const [, drain = ""] = /`DRAIN_LIMIT` .*`(\d+) seconds` \|/u.exec(documented) ?? []
    const stops = [
      /stop_grace_period: (\d+)s/u.exec(read(`${DEPLOY}/compose.yaml`)),
      /TimeoutStopSec=(\d+)/u.exec(read(`${DEPLOY}/fathom.service`)),
      /terminationGracePeriodSeconds: (\d+)/u.exec(read(`${DEPLOY}/kubernetes/fathom.yaml`))
    ].map((found) => Number(found?.[1]))
    assert.isAbove(Number(drain), 0)
    assert.deepStrictEqual(
      stops.filter((seconds) => !(seconds >= Number(drain) + 10)),
      []
    )
  })

  it("request only paths that the service answers without a key", () => {
    const asked = [`${DEPLOY}/Dockerfile`, `${DEPLOY}/kubernetes/fathom.yaml`].flatMap((file) =>
      Array.from(
        read(file).matchAll(/path: (\/\w+), port: http|\+ '(\/\w+)'/gu),
        ([, probe, health]) => probe ?? health ?? ""
      )
    )
    assert.lengthOf(asked, 4)
    const documentedPaths = new Set(
      Array.from(read("docs/operating/health.md").matchAll(/^\| `(\/\w+)` +\|/gmu), ([, path]) => path)
    )
    assert.deepStrictEqual(
      asked.filter((path) => !documentedPaths.has(path)),
      []
    )
  })
})

describe("the Helm chart", () => {
  const CHART = "scripts/deploy/helm"
  const values = valuesIn(read(`${CHART}/values.yaml`))

  it.each(["fathom", "roles"])("has the objects of the manifests with its usual values: %s", (name) => {
    const template = read(`${CHART}/templates/${name}.yaml`)
    assert.match(template, /\{\{- if (?:not )?\.Values\.roles\.enabled \}\}\n/u)
    const filled = filledIn(template, values)
    assert.notInclude(filled, "{{")
    assert.deepStrictEqual(objectsOf(filled), objectsOf(read(`scripts/deploy/kubernetes/${name}.yaml`)))
  })

  it("has no value that nothing reads, and reads no value that is missing", () => {
    const templates = globSync(`${CHART}/templates/*.yaml`).map(read).join("\n")
    const named = new Set(Array.from(templates.matchAll(/\.Values\.([\w.]+)/gu), ([, path = ""]) => path))
    assert.sameMembers([...named], [...values.keys()])
  })
})

describe("an alert", () => {
  const runbooks = read("docs/operating/incidents.md")

  it.each(alertNames)("has a runbook: %s", (name) => {
    assert.include(runbooks, `### ${name}\n`)
  })
})
