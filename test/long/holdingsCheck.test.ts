/**
 * The whole service next to a node of a simulated chain. Compares holdings and sums of tracked wallets with the chain,
 * over HTTP.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, FileSystem, Layer, Redacted, Schedule, Schema } from "effect"
import { issueUnlimited, keyStore } from "../../scripts/chaos/service.ts"
import { ChainFigures, newestSlot } from "../../scripts/holdings/chainFigures.ts"
import { LiveFigures } from "../../scripts/holdings/liveFigures.ts"
import { type Caller, request, track, trackedSince } from "../../scripts/holdings/service.ts"
import { sweep } from "../../scripts/holdings/sweep.ts"
import * as App from "../../src/app/App.ts"
import { Simulator } from "../../src/simulator/Simulator.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

/** Slots come faster than on a real chain. Each has several swaps by few wallets. */
const SPEED = 5
const SWAPS_PER_SECOND = 16
const SLOTS = 60
/** Wallets whose positions are read too. A key has 60 such reads a minute. */
const READS = 10

interface Trades {
  readonly trades: ReadonlyArray<{ readonly fees: { readonly frontEndLamports: string | null } }>
}

const tradesOf = async (caller: Caller): Promise<Trades> =>
  (await request(caller, "/api/v1/tracker/trades?limit=500")) as Trades

const Ready = Schema.fromJsonString(Schema.Struct({ baseUrl: Schema.String }))

/** The service with its database, without the node, and a key of an account that tracks nothing yet. */
const started = Effect.gen(function* () {
  const { rpcUrl, wsUrl } = yield* Simulator
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "fathom-holdings-" })
  const { database, host } = yield* TestDatabase.create
  const databaseUrl = `postgres://postgres@localhost/${database}?host=${encodeURIComponent(host)}`
  const settings = ConfigProvider.fromUnknown({
    PORT: "0",
    DATA_DIR: folder,
    DATABASE_URL: databaseUrl,
    READY_FILE: `${folder}/ready.json`,
    KEY_ENVIRONMENT: "test",
    SOLANA_RPC_URL: rpcUrl,
    SOLANA_WS_URL: wsUrl,
    DISCOVERY_RATE: "1000",
    WALLET_ACCOUNTS_RATE: "500",
    DRAIN_QUIET: "0 millis"
  })
  yield* Layer.build(App.layer).pipe(Effect.provideService(ConfigProvider.ConfigProvider, settings))
  const ready = yield* files
    .readFileString(`${folder}/ready.json`)
    .pipe(Effect.retry({ schedule: Schedule.spaced("20 millis"), times: 3000 }))
  const { baseUrl } = yield* Schema.decodeEffect(Ready)(ready)
  const { secret } = yield* issueUnlimited("holdings").pipe(Effect.provide(keyStore(databaseUrl)))
  return { api: baseUrl, key: Redacted.value(secret) }
})

describe.runIf(TestDatabase.isAvailable)("the figures of tracked wallets over the whole service", () => {
  it.live(
    "are the chain's: every holding, strict sums when all trades were seen, and otherwise the known share",
    () =>
      Effect.gen(function* () {
        const { faults, rpcUrl, wallets } = yield* Simulator
        const caller = yield* started
        const begun = yield* Effect.promise(() => newestSlot(rpcUrl))
        const followed = wallets.flatMap(({ address, label }) => (label === "validator" ? [] : [address]))
        const live = new LiveFigures(caller)
        yield* Effect.addFinalizer(() => Effect.sync(() => live.close()))
        const { sinces, tracked } = yield* Effect.promise(async () => {
          await track(caller, followed)
          const tracked = await newestSlot(rpcUrl)
          await live.open()
          return { sinces: await trackedSince(caller), tracked }
        })
        const chain = new ChainFigures(rpcUrl, sinces, { from: begun, tracked })
        const reads = new Set(followed.slice(0, READS))
        // Blocks that were missed under load are read again once there are further blocks.
        const look = Effect.gen(function* () {
          yield* faults.set({ halted: false })
          const from = yield* Effect.promise(() => newestSlot(rpcUrl))
          yield* Effect.promise(() => newestSlot(rpcUrl)).pipe(
            Effect.repeat({
              until: (slot) => slot >= from + SLOTS && live.isRestored(followed),
              schedule: Schedule.spaced("50 millis")
            })
          )
          yield* faults.set({ halted: true })
          return yield* Effect.promise(() =>
            sweep({ caller, rpc: rpcUrl, chain, live }, followed, { rounds: 6, pauseMs: 500, reads })
          )
        })
        const report = yield* look.pipe(
          Effect.repeat({ until: ({ differences }) => differences.length === 0, times: 4 })
        )
        assert.deepStrictEqual(report.differences, [])
        const { partial, transfers } = chain.counts()
        const { trades } = yield* Effect.promise(() => tradesOf(caller))
        const withFee = trades.filter(({ fees }) => fees.frontEndLamports !== null && fees.frontEndLamports !== "0")
        const seen = { ...report.kinds, holdings: report.holdings, partial, transfers, withFee: withFee.length }
        assert.isAbove(seen.holdings, 200)
        assert.isAbove(seen.strict + seen.unmarked, 0)
        assert.isAbove(seen.partly, 20)
        assert.isAbove(seen.transfers, 0)
        assert.isAbove(seen.partial, 0)
        assert.isAbove(seen.withFee, 0)
      }).pipe(
        Effect.scoped,
        Effect.provide(
          Simulator.layer({
            seed: "holdings",
            speed: SPEED,
            swapsPerSecond: SWAPS_PER_SECOND,
            retailWallets: 40,
            blocksKept: 100_000
          })
        ),
        Effect.provide(NodeServices.layer)
      ),
    180_000
  )
})
