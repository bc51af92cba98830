import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { faults } from "../../scripts/chaos/alerts/faults.ts"
import { firedIn, metricsOf, parseScrape, rulesOf, type Scrape, testOf } from "../../scripts/chaos/alerts/series.ts"

const RULES = "scripts/deploy/monitoring/alerts.yml"
const rules = readFileSync(RULES, "utf8")
const hasPromtool = spawnSync("promtool", ["--version"]).status === 0

const scrape = (text: string): Scrape => parseScrape(text, metricsOf(rules))

const fired = (scrapes: ReadonlyArray<Scrape>, heldSeconds: number) => {
  const folder = mkdtempSync(join(tmpdir(), "fathom-rules-"))
  const file = join(folder, "test.yml")
  writeFileSync(file, testOf(resolve(RULES), scrapes, heldSeconds))
  const { status, stderr, stdout } = spawnSync("promtool", ["test", "rules", file], { encoding: "utf8" })
  rmSync(folder, { recursive: true })
  return firedIn({ status, output: `${stdout}${stderr}` })
}

const state = (source: string, name: string) => `fathom_source_state{source="${source}",state="${name}"} 1`

const requests = (good: number, bad: number) =>
  scrape(`fathom_http_requests_total{status="200"} ${good}\nfathom_http_requests_total{status="503"} ${bad}\n`)

describe("faults that are provoked", () => {
  it("are enough for every alert rule", () => {
    const covered = new Set(faults.flatMap(({ fires }) => fires))
    assert.deepStrictEqual(Array.from(covered).toSorted(), rulesOf(rules).toSorted())
  })
})

describe("samples of a scrape", () => {
  it("are those of the metrics that rules read", () => {
    assert.deepStrictEqual(
      scrape('# HELP x y\nfathom_blocks_applied_total 5\nfathom_source_state{source="chain",state="stale"} 1\n'),
      new Map([['fathom_source_state{source="chain",state="stale"}', 1]])
    )
  })

  it.skipIf(!hasPromtool)("fire a rule once its time is over, and no other", () => {
    const lost = [scrape(state("database", "known")), scrape(state("database", "stale"))]
    assert.deepStrictEqual(fired(lost, 20), [])
    assert.deepStrictEqual(fired(lost, 60), ["FathomDatabaseLost"])
    assert.deepStrictEqual(fired([scrape(state("database", "known"))], 3600), [])
  })

  it.skipIf(!hasPromtool)("fire the rule on a service that does not answer", () => {
    assert.deepStrictEqual(fired([scrape(state("chain", "known")), null, null], 120), ["FathomDown"])
  })

  it.skipIf(!hasPromtool)("let counters grow as they grew last", () => {
    assert.deepStrictEqual(fired([requests(0, 0), requests(10, 0)], 900), [])
    assert.deepStrictEqual(fired([requests(0, 0), requests(10, 1)], 900), ["FathomServerErrors"])
  })

  it("are no success of a file that promtool cannot read", () => {
    assert.throws(() => firedIn({ status: 1, output: "FAILED: parse error" }), "parse error")
  })
})
