import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Duration, Effect, Redacted } from "effect"
import { type RpcOptions, rpcSettings } from "../../../src/solana/rpc/rpcSettings.ts"

const settingsOf = (environment: Record<string, string>, options: RpcOptions = {}) =>
  rpcSettings(options).parse(ConfigProvider.fromUnknown(environment))

const URL = "https://node.test/key"

describe("the settings of a node", () => {
  it.effect("need an address and nothing else", () =>
    Effect.gen(function* () {
      const { rpcUrl, wsUrl, ...rest } = yield* settingsOf({ SOLANA_RPC_URL: URL })

      assert.strictEqual(Redacted.value(rpcUrl), URL)
      assert.strictEqual(Redacted.value(wsUrl), "wss://node.test/key")
      assert.deepStrictEqual(rest, {
        commitment: "confirmed",
        timeout: Duration.seconds(5),
        scanTimeout: Duration.seconds(20),
        retries: 3,
        concurrency: 16,
        watchdog: Duration.seconds(10),
        backlog: 4096
      })
    })
  )

  it.effect("take another address for the socket", () =>
    Effect.gen(function* () {
      const { wsUrl } = yield* settingsOf({
        SOLANA_RPC_URL: "http://localhost:8899",
        SOLANA_WS_URL: "ws://localhost:8900"
      })
      assert.strictEqual(Redacted.value(wsUrl), "ws://localhost:8900/")
    })
  )

  it.effect("given in code win over the environment", () =>
    Effect.gen(function* () {
      const settings = yield* settingsOf(
        { SOLANA_RPC_URL: URL, SOLANA_COMMITMENT: "processed" },
        { rpcUrl: "http://127.0.0.1:9", commitment: "finalized" }
      )
      assert.strictEqual(Redacted.value(settings.rpcUrl), "http://127.0.0.1:9")
      assert.strictEqual(Redacted.value(settings.wsUrl), "ws://127.0.0.1:9")
      assert.strictEqual(settings.commitment, "finalized")
    })
  )

  it.effect.each([
    {},
    { SOLANA_RPC_URL: "node.test" },
    { SOLANA_RPC_URL: "ftp://node.test" },
    { SOLANA_RPC_URL: URL, SOLANA_WS_URL: "https://node.test" },
    { SOLANA_RPC_URL: URL, SOLANA_COMMITMENT: "sure" },
    { SOLANA_RPC_URL: URL, SOLANA_RPC_RETRIES: "many" }
  ])("are refused when they make no sense: %j", (environment) =>
    Effect.gen(function* () {
      const refusal = yield* Effect.flip(settingsOf(environment))
      assert.strictEqual(refusal._tag, "ConfigError")
    })
  )
})
