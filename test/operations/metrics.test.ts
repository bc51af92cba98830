import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Exit, Layer } from "effect"
import { HttpClient, HttpServer } from "effect/http"
import { spawnSync } from "node:child_process"
import * as Readings from "../../src/operations/Readings.ts"
import * as SourceMonitor from "../../src/operations/SourceMonitor.ts"
import * as AdminServer from "../../src/operations/AdminServer.ts"
import { prometheusText } from "../../src/operations/prometheus.ts"

const hasPromtool = spawnSync("promtool", ["--version"]).status === 0
const states = Layer.mergeAll(Readings.layer, SourceMonitor.layer)

const served = AdminServer.serve({ host: "127.0.0.1", port: 0 }).pipe(
  Layer.provideMerge([states, NodeHttpClient.layerUndici])
)

const adminUrl = HttpServer.addressFormattedWith((url) => Effect.succeed(url))

layer(served)("the admin server", (it) => {
  it.effect("answers metrics of the process and of every source in the text format of Prometheus", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const monitor = yield* SourceMonitor.SourceMonitor
        yield* monitor.report("blocks", (nowMs) => ({
          observedAtMs: nowMs - 1500,
          status: "partial",
          slot: 77,
          gapsOpen: 2
        }))
        yield* monitor.report("block_feed", () => ({ observedAtMs: null, status: "stale", slot: 80, head: 175 }))
        yield* monitor.report("trades", () => ({ observedAtMs: null, status: "unavailable" }))
        yield* monitor.report("alerts", () => ({ observedAtMs: null, status: "unavailable" }))
        const response = yield* HttpClient.get(`${yield* adminUrl}/metrics`)
        assert.strictEqual(response.status, 200)
        assert.strictEqual(response.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8")
        const text = yield* response.text
        for (const line of [
          'fathom_source_state{source="blocks",state="partial"} 1',
          'fathom_source_state{source="blocks",state="known"} 0',
          'fathom_source_lag_seconds{source="blocks"} 1.5',
          'fathom_source_slot{source="blocks"} 77',
          'fathom_source_gaps_open{source="blocks"} 2',
          'fathom_slots_behind{stage="read"} 95',
          'fathom_slots_behind{stage="applied"} 98',
          "# TYPE process_cpu_seconds_total counter"
        ]) {
          assert.include(text.split("\n"), line)
        }
        assert.notInclude(text, 'fathom_source_lag_seconds{source="alerts"}')
        assert.notInclude(text, 'fathom_slots_behind{stage="stored"}')
        assert.match(text, /^process_resident_memory_bytes \d+$/mu)
        assert.match(text, /^nodejs_eventloop_delay_seconds\{statistic="p99"\} [\d.e-]+$/mu)
      })
    )
  )

  it.effect.skipIf(!hasPromtool)("is accepted by promtool, which is skipped where it is not installed", () =>
    Effect.gen(function* () {
      const text = yield* Effect.flatMap(HttpClient.get(`${yield* adminUrl}/metrics`), ({ text }) => text)
      const { status, stderr, stdout } = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" })
      assert.deepStrictEqual({ status, said: `${stdout}${stderr}` }, { status: 0, said: "" })
    })
  )

  it.effect("has no other path", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* HttpClient.get(`${yield* adminUrl}/`)).status, 404)
    })
  )

  it.effect("drops the series of a source that is gone", () =>
    Effect.gen(function* () {
      const readings = yield* Readings.Readings
      yield* Effect.scoped(readings.report({ name: "fathom_x", help: "X.", kind: "gauge" }, () => 1))
      const text = yield* prometheusText
      assert.notInclude(text, "fathom_x")
    })
  )
})

const started = (settings: Record<string, string>) =>
  Effect.scoped(
    Layer.build(AdminServer.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(settings)))))
  )

describe("ADMIN_PORT", () => {
  it.effect("is off by default", () => Effect.asVoid(started({})))

  it.effect("is refused by its name when it is not a port", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(started({ ADMIN_PORT: "70000" }))
      assert.isTrue(Exit.isFailure(exit))
      assert.include(String(exit), "ADMIN_PORT")
    })
  )
})
