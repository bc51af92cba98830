import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Duration, Effect, Redacted } from "effect"
import { type RpcOptions, rpcSettings } from "../../../src/chain/rpc/rpcSettings.ts"

const settingsOf = (environment: Record<string, string>, options: RpcOptions = {}) =>
  rpcSettings(options).parse(ConfigProvider.fromUnknown(environment))

const URL = "https://node.test/key"

describe("the settings of a node", () => {
  it.effect("only need an address", () =>
    Effect.gen(function* () {
      const { nodes, ...rest } = yield* settingsOf({ SOLANA_RPC_URL: URL })
      const [{ host, rpcUrl, wsUrl }] = nodes

      assert.strictEqual(Redacted.value(rpcUrl), URL)
      assert.strictEqual(Redacted.value(wsUrl), "wss://node.test/key")
      assert.strictEqual(host, "node.test")
      assert.lengthOf(nodes, 1)
      assert.deepStrictEqual(rest, {
        commitment: "confirmed",
        timeout: Duration.seconds(5),
        scanTimeout: Duration.seconds(20),
        retries: 3,
        concurrency: 16,
        subscriptions: 1000,
        watchdog: Duration.seconds(10),
        backlog: 4096
      })
    })
  )

  it.effect("accept a separate address for the WebSocket", () =>
    Effect.gen(function* () {
      const { nodes } = yield* settingsOf({
        SOLANA_RPC_URL: "http://localhost:8899",
        SOLANA_WS_URL: "ws://localhost:8900"
      })
      assert.strictEqual(Redacted.value(nodes[0].wsUrl), "ws://localhost:8900/")
    })
  )

  it.effect("accept several nodes, each with its WebSocket", () =>
    Effect.gen(function* () {
      const { nodes } = yield* settingsOf({
        SOLANA_RPC_URL: "http://one.test:1/5ecret, https://two.test",
        SOLANA_WS_URL: "ws://one.test:2,wss://sockets.two.test"
      })
      assert.deepStrictEqual(
        nodes.map(({ host, rpcUrl, wsUrl }) => [host, Redacted.value(rpcUrl), Redacted.value(wsUrl)]),
        [
          ["one.test:1", "http://one.test:1/5ecret", "ws://one.test:2/"],
          ["two.test", "https://two.test/", "wss://sockets.two.test/"]
        ]
      )
    })
  )

  it.effect.each([
    [{}, "is missing: the address of a Solana node"],
    [{ rpcUrl: "" }, "is missing: the address of a Solana node"],
    [{ rpcUrl: "node.test:8899" }, "must be a URL"]
  ] as const)("fail with the name of the setting for the options %j", ([options, reason]) =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(settingsOf({}, options))
      assert.include(message, reason)
      assert.include(message, '["SOLANA_RPC_URL"]')
    })
  )

  it.effect("check addresses of WebSockets given in code, and count them", () =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(
        settingsOf({}, { rpcUrl: "http://one.test,http://two.test", wsUrl: "ws://one.test" })
      )
      assert.include(message, "must have as many addresses as SOLANA_RPC_URL, which has 2")
    })
  )

  it.effect("do not repeat a bad address, which may hold a key", () =>
    Effect.gen(function* () {
      const refusal = yield* Effect.flip(settingsOf({ SOLANA_RPC_URL: "https://one.test,htp://two.test/5ecret" }))
      assert.include(refusal.message, "SOLANA_RPC_URL")
      assert.include(refusal.message, "http: or https:")
      assert.notInclude(refusal.message, "5ecret")
    })
  )

  it.effect("given in code win over the environment", () =>
    Effect.gen(function* () {
      const settings = yield* settingsOf(
        { SOLANA_RPC_URL: URL, SOLANA_COMMITMENT: "processed" },
        { rpcUrl: "http://127.0.0.1:9", commitment: "finalized" }
      )
      assert.strictEqual(Redacted.value(settings.nodes[0].rpcUrl), "http://127.0.0.1:9/")
      assert.strictEqual(Redacted.value(settings.nodes[0].wsUrl), "ws://127.0.0.1:9/")
      assert.strictEqual(settings.commitment, "finalized")
    })
  )

  it.effect.each([
    {},
    { SOLANA_RPC_URL: "node.test" },
    { SOLANA_RPC_URL: "ftp://node.test" },
    { SOLANA_RPC_URL: URL, SOLANA_WS_URL: "https://node.test" },
    { SOLANA_RPC_URL: `${URL},${URL}`, SOLANA_WS_URL: "wss://node.test" },
    { SOLANA_RPC_URL: `${URL},` },
    { SOLANA_RPC_URL: URL, SOLANA_COMMITMENT: "sure" },
    { SOLANA_RPC_URL: URL, SOLANA_RPC_RETRIES: "many" }
  ])("are rejected when they make no sense: %j", (environment) =>
    Effect.gen(function* () {
      const refusal = yield* Effect.flip(settingsOf(environment))
      assert.strictEqual(refusal._tag, "ConfigError")
    })
  )
})
