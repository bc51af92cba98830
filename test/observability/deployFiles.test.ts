import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { globSync, readFileSync } from "node:fs"

const FOLDER = "scripts/deploy/monitoring"
const hasPromtool = spawnSync("promtool", ["--version"]).status === 0

const read = (file: string): string => readFileSync(file, "utf8")

/** Names in the same spelling that are no metrics: two cookies and a channel of PostgreSQL. */
const others = new Set(["fathom_session", "fathom_sign_in", "fathom_changes"])

/** Names of the numbers of live connections, which each kind of socket has by its prefix. */
const ofSockets = globSync("src/*/*.ts")
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

/** Metric names of the expressions in a file, those of histograms without their suffix. */
const namesIn = (text: string): ReadonlyArray<string> =>
  Array.from(text.matchAll(/\b(?:fathom|process|nodejs)_[a-z_]+/gu), ([name]) =>
    name.replace(/_(?:bucket|count|sum)$/u, "")
  )

const alerts = read(`${FOLDER}/alerts.yml`)
const alertNames = Array.from(alerts.matchAll(/alert: (\w+)/gu), ([, name = ""]) => name)

describe("the files of monitoring", () => {
  it.each(["alerts.yml", "dashboard.json"])("name only metrics that exist: %s", (file) => {
    const names = namesIn(read(`${FOLDER}/${file}`))
    assert.isNotEmpty(names)
    assert.deepStrictEqual(
      names.filter((name) => !exported.has(name)),
      []
    )
  })

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

describe("an alert", () => {
  const runbooks = read("docs/operating.md")

  it.each(alertNames)("has a runbook: %s", (name) => {
    assert.include(runbooks, `### ${name}\n`)
  })
})
