import { assert, describe, it } from "@effect/vitest"
import { Config, ConfigProvider, Duration, Effect, Redacted, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { FundingClient } from "../../src/funding/FundingClient.ts"
import { fundingSettings } from "../../src/funding/fundingSettings.ts"
import { asking, bytes, OWNER, portTo, response, wallets } from "./scriptedFunding.ts"

type Failing = readonly [string, ReturnType<typeof response>, string, number | undefined]

const failures: ReadonlyArray<Failing> = [
  ["fails", response(500, "secret"), "unreachable", undefined],
  ["asks for patience", response(503, "", { "retry-after": "7" }), "unreachable", 7000],
  ["limits the rate", response(429, "", { "retry-after": "12" }), "rate_limited", 12_000],
  ["asks for more patience than the limit", response(429, "", { "retry-after": "999999" }), "rate_limited", 300_000],
  ["rejects the credential", response(401, "secret"), "malformed", undefined],
  ["redirects", response(302, "", { location: "http://127.0.0.1:1/" }), "malformed", undefined],
  ["has nothing at this path", response(404, "secret"), "malformed", undefined],
  ["refuses a list", response(404, `{"error":"unknown_wallet"}`), "malformed", undefined],
  ["answers nothing", response(200, ""), "malformed", undefined],
  ["answers HTML", response(200, "<html>"), "malformed", undefined],
  ["answers half", response(200, JSON.stringify(wallets).slice(0, 99)), "malformed", undefined],
  ["answers in another encoding", bytes(200, Buffer.from(JSON.stringify(wallets), "utf16le")), "malformed", undefined],
  ["answers null", response(200, "null"), "malformed", undefined],
  ["never stops", response(200, JSON.stringify(wallets) + " ".repeat(5 * 1024 * 1024)), "malformed", undefined]
]

describe("FundingClientHttp, when the service", () => {
  for (const [what, scripted, reason, retryAfterMs] of failures) {
    it.effect(`${what}, fails as ${reason}`, () =>
      asking((client, { say }) =>
        Effect.gen(function* () {
          say({ wallets: scripted })
          const error = yield* Effect.flip(client.wallets(OWNER))
          assert.strictEqual(error.reason, reason)
          assert.strictEqual(error.retryAfterMs, retryAfterMs)
          assert.notInclude(JSON.stringify(error), "secret")
          assert.notInclude(JSON.stringify(error), "credential")
          say({})
          assert.strictEqual((yield* client.wallets(OWNER)).wallets.length, 3, "one failure closes nothing")
        })
      )
    )
  }

  it.effect("fails, retries once, unless the service asked to wait", () =>
    asking((client, { asked, say }) =>
      Effect.gen(function* () {
        say({ wallets: response(503) })
        yield* Effect.flip(client.wallets(OWNER))
        assert.strictEqual(asked.length, 2)
        say({ wallets: response(503, "", { "retry-after": "1" }) })
        yield* Effect.flip(client.wallets(OWNER))
        assert.strictEqual(asked.length, 3)
      })
    )
  )

  it.live("is silent, gives up in time", () =>
    asking(
      (client, { say, silence }) =>
        Effect.gen(function* () {
          say({ wallets: silence })
          assert.strictEqual((yield* Effect.flip(client.wallets(OWNER))).reason, "timeout")
        }),
      { timeout: Duration.millis(50) }
    )
  )

  it.live("never stops sending, cuts the answer off at its limit", () =>
    asking((client, { say }) =>
      Effect.gen(function* () {
        let sent = 0
        const drip = Stream.fromEffectRepeat(Effect.sync(() => new Uint8Array(65_536).fill((sent++, 32))))
        say({ wallets: Effect.succeed(HttpServerResponse.stream(drip)) })
        assert.strictEqual((yield* Effect.flip(client.wallets(OWNER))).reason, "malformed")
        assert.isBelow(sent, 1000, "no more than the socket holds beyond the limit")
      })
    )
  )

  it.effect("cannot be reached, reports it as unreachable", () =>
    FundingClient.use((client) =>
      Effect.gen(function* () {
        assert.strictEqual((yield* Effect.flip(client.wallets(OWNER))).reason, "unreachable")
      })
    ).pipe(Effect.provide(portTo({ url: "http://127.0.0.1:1" })))
  )

  it.effect("keeps failing, does not call it for a while", () =>
    asking((client, { asked, say }) =>
      Effect.gen(function* () {
        say({ wallets: response(500) })
        yield* Effect.repeat(Effect.flip(client.wallets(OWNER)), { times: 4 })
        const before = asked.length
        const error = yield* Effect.flip(client.wallets(OWNER))
        assert.deepInclude(error, { reason: "unreachable", retryAfterMs: 1000 })
        assert.strictEqual(asked.length, before)
        say({})
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* client.wallets(OWNER)).wallets.length, 3)
      })
    )
  )

  it.effect("keeps sending malformed answers, goes on asking", () =>
    asking((client, { asked, say }) =>
      Effect.gen(function* () {
        say({ wallets: response(200, "{}") })
        yield* Effect.repeat(Effect.flip(client.wallets(OWNER)), { times: 9 })
        assert.strictEqual(asked.length, 10)
      })
    )
  )
})

describe("FundingClient.layerUnconfigured", () => {
  it.effect("fails every read as unconfigured", () =>
    Effect.gen(function* () {
      const client = yield* FundingClient
      const errors = [
        yield* Effect.flip(client.wallets(OWNER)),
        yield* Effect.flip(client.catalog({ owner: OWNER })),
        yield* Effect.flip(client.balances({ owner: OWNER })),
        yield* Effect.flip(client.depositAddress({ owner: OWNER, walletId: "w", networkId: "n", assetId: "a" }))
      ]
      for (const error of errors) {
        assert.deepInclude(error, { _tag: "FundingUnavailable", reason: "unconfigured" })
      }
    }).pipe(Effect.provide(FundingClient.layerUnconfigured))
  )
})

const settingsFrom = (env: Record<string, string>) =>
  Effect.provideService(
    Effect.flatMap(ConfigProvider.ConfigProvider, (provider) => fundingSettings({}).parse(provider)),
    ConfigProvider.ConfigProvider,
    ConfigProvider.fromEnv({ env })
  )

describe("fundingSettings", () => {
  it.effect("come from the environment, without a trailing slash", () =>
    Effect.gen(function* () {
      const settings = yield* settingsFrom({
        FUNDING_URL: "https://funding.example/api/",
        FUNDING_TOKEN: "credential",
        FUNDING_TIMEOUT: "3 seconds"
      })
      assert.strictEqual(settings.url, "https://funding.example/api")
      assert.strictEqual(settings.token === null ? null : Redacted.value(settings.token), "credential")
      assert.strictEqual(Duration.toSeconds(settings.timeout), 3)
      const bare = yield* settingsFrom({ FUNDING_URL: "http://127.0.0.1:9" })
      assert.deepInclude(bare, { url: "http://127.0.0.1:9", token: null })
      assert.notInclude(JSON.stringify(settings), "credential")
    })
  )

  for (const url of ["ftp://x", "not a url", "https://user:secret@x", "https://x/?key=1", "https://x/#a"]) {
    it.effect(`reject ${url}`, () =>
      Effect.gen(function* () {
        assert.instanceOf(yield* Effect.flip(settingsFrom({ FUNDING_URL: url })), Config.ConfigError)
      })
    )
  }
})
