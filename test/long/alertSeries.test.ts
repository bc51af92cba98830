import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { DISK_MIB, faults, unexplained, unprovoked } from "../../scripts/chaos/alerts/faults.ts"
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

const requests = (good: number, bad: number, status = 500) =>
  scrape(`fathom_http_requests_total{status="200"} ${good}\nfathom_http_requests_total{status="${status}"} ${bad}\n`)

const started = (atSeconds: number) => scrape(`process_start_time_seconds ${atSeconds}`)
const refused = (appends: number) => scrape(`fathom_bus_failed_appends_total ${appends}`)
const restarted = (threads: number) => scrape(`fathom_execution_restarts_total ${threads}`)
const dropped = (trades: number) => scrape(`fathom_clickhouse_spool_dropped_trades_total ${trades}`)

const lateBlocks = (seconds: number) =>
  scrape(`fathom_source_lag_seconds{source="blocks"} ${seconds}\n${state("trades", "stale")}`)

describe("faults that are provoked", () => {
  it("are enough for every alert rule, except those with a reason", () => {
    const covered = new Set(faults.flatMap(({ fires }) => fires))
    assert.deepStrictEqual([...covered, ...Object.keys(unprovoked)].toSorted(), rulesOf(rules).toSorted())
  })

  it("keep the disk of the run above the bound of the rule until it is filled", () => {
    const [, bound] = /fathom_data_disk_free_bytes < (\S+)/u.exec(rules) ?? []
    assert.isAbove(DISK_MIB * 2 ** 20, 1.2 * Number(bound))
  })

  it("explain rules of speed, and no others, by a machine that keeps the service waiting", () => {
    assert.deepStrictEqual(unexplained(["FathomLoopDelayed", "FathomDown"], 0.4), ["FathomDown"])
    assert.deepStrictEqual(unexplained(["FathomLoopDelayed"], 0.01), ["FathomLoopDelayed"])
  })

  /** A rule on a counter needs two samples, and has a test of its own. */
  const written: Record<
    Exclude<
      keyof typeof unprovoked,
      "FathomBusRefuses" | "FathomExecutionRestarts" | "FathomRestarts" | "FathomServerErrors"
    >,
    string
  > = {
    FathomBackupOld: "fathom_backup_age_seconds 180000",
    FathomMemoryLimit: "process_resident_memory_bytes 950000000\nprocess_memory_limit_bytes 1000000000",
    FathomAlertsMissed: state("alerts", "partial"),
    FathomDecoderDrifts: [
      'fathom_decoding_drift_since_seconds{dex="pumpswap"} 1791476400',
      'fathom_decoding_confirmed_before_ratio{dex="pumpswap"} 0.998',
      'fathom_decoding_confirmed_ratio{dex="pumpswap"} 0.71'
    ].join("\n"),
    FathomProgramUnproven: 'fathom_program_upgraded{dex="a"} 1\nfathom_program_state{dex="a",state="unproven"} 1',
    FathomQuotesWrong: 'fathom_program_state{dex="a",state="wrong"} 1',
    FathomSharedStateLost: state("bus", "stale"),
    FathomSpoolFills: "fathom_clickhouse_spool_bytes 51\nfathom_clickhouse_spool_limit_bytes 100",
    FathomUsageUncounted: state("usage", "partial")
  }
  it.skipIf(!hasPromtool).each(Object.entries(written))("and %s fires on written samples", (rule, text) => {
    assert.deepStrictEqual(fired([scrape(text)], 4000), [rule])
  })

  it.skipIf(!hasPromtool)("and a process that starts again and again fires its rule, though each start answers", () => {
    assert.deepStrictEqual(fired([started(1), started(1), started(60), started(60)], 60), [])
    assert.deepStrictEqual(fired([started(1), started(60), started(120), started(180)], 60), ["FathomRestarts"])
    const known = started(1)
    assert.deepStrictEqual(fired([known, null, known, null, known, null, known], 20), ["FathomRestarts"])
  })

  it.skipIf(!hasPromtool)("and an execution that stopped its thread fires its rule", () => {
    assert.deepStrictEqual(fired([restarted(0), restarted(0)], 300), [])
    assert.deepStrictEqual(fired([restarted(0), restarted(1)], 300), ["FathomExecutionRestarts"])
  })

  it.skipIf(!hasPromtool)("and blocks that the bus does not take fire its rule", () => {
    assert.deepStrictEqual(fired([refused(0), refused(0)], 300), [])
    assert.deepStrictEqual(fired([refused(0), refused(10)], 300), ["FathomBusRefuses"])
  })

  it.skipIf(!hasPromtool)("and dropped trades of the spool fire its rule", () => {
    assert.deepStrictEqual(fired([dropped(0), dropped(0)], 300), [])
    assert.deepStrictEqual(fired([dropped(0), dropped(10)], 300), ["FathomSpoolFills"])
  })
})

describe("the rules of sources", () => {
  it("leave none out: those that the general rule excepts have one of their own", () => {
    const all = Array.from(rules.matchAll(/source(!~|=~?)"([^"]+)"[^}]*/gu), ([whole, operator = "", names = ""]) => ({
      isException: operator === "!~",
      isAboutStale: whole.includes("stale"),
      names: names.split("|")
    }))
    const excepted = all.filter(({ isException }) => isException).flatMap(({ names }) => names)
    const own = new Set(all.filter((one) => !one.isException && one.isAboutStale).flatMap(({ names }) => names))
    assert.isNotEmpty(excepted)
    assert.deepStrictEqual(excepted.toSorted(), Array.from(own).toSorted())
  })

  it.skipIf(!hasPromtool)("fire for a market that is late, and do not blame its store", () => {
    assert.deepStrictEqual(fired([lateBlocks(38)], 300), ["FathomBlocksLag"])
    assert.deepStrictEqual(fired([lateBlocks(1)], 300), ["FathomStoreLags"])
  })

  it.skipIf(!hasPromtool)("fire for a source without a rule of its own", () => {
    assert.deepStrictEqual(fired([scrape(state("token_metadata", "stale"))], 1200), ["FathomSourceStale"])
    assert.deepStrictEqual(fired([scrape(state("block_feed", "unavailable"))], 1200), ["FathomSourceStale"])
    assert.deepStrictEqual(fired([scrape(state("token_metadata", "unavailable"))], 1200), [])
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
    // Refusals by design are no faults.
    assert.deepStrictEqual(fired([requests(0, 0, 503), requests(10, 10, 503)], 900), [])
  })

  it("are no success of a file that promtool cannot read", () => {
    assert.throws(() => firedIn({ status: 1, output: "FAILED: parse error" }), "parse error")
  })
})
