import { assert, describe, it } from "@effect/vitest"
import bs58 from "bs58"
import { ConfigProvider, Context, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { SOL, USDC } from "../../src/domain/Address.ts"
import { slotsToSkip } from "../../src/simulator/traders/pace.ts"
import { Simulator } from "../../src/simulator/Simulator.ts"
import { at, call, connect, postText } from "./node/client.ts"

const slotOf = (url: string) => Effect.map(call(url, "getSlot"), (answer) => Number(at(answer, "result")))
const health = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getHealth" })

const nameOf = (seed: string, startUnixMs: number) =>
  Effect.flatMap(Simulator, ({ rpcUrl }) => call(rpcUrl, "getGenesisHash")).pipe(
    Effect.map((answer) => String(at(answer, "result"))),
    Effect.provide(Simulator.layer({ seed, startUnixMs, speed: 0 }), { local: true })
  )

describe("Simulator", () => {
  it.effect("starts a slot every 400 ms, or faster by the speed that is set, with times that follow the clock", () =>
    Effect.gen(function* () {
      const { rpcUrl, wsUrl } = yield* Simulator
      const before = yield* slotOf(rpcUrl)
      const { ask, next, pending } = yield* connect(wsUrl)
      yield* ask("slotSubscribe")
      yield* TestClock.adjust("2 seconds")
      for (let slot = before + 1; slot <= before + 20; slot++) {
        assert.deepInclude(at(yield* next, "params", "result"), { parent: slot, slot: slot + 1 })
      }
      assert.strictEqual((yield* slotOf(rpcUrl)) - before, 20)
      const timeOf = (slot: number) =>
        Effect.map(call(rpcUrl, "getBlock", slot, { maxSupportedTransactionVersion: 0 }), (answer) =>
          Number(at(answer, "result", "blockTime"))
        )
      assert.strictEqual((yield* timeOf(before + 20)) - (yield* timeOf(before)), 2)
      assert.strictEqual(yield* pending, 0)
    }).pipe(Effect.provide(Simulator.layer({ speed: 4 })))
  )

  it.effect("makes slots only by advance when its speed is zero", () =>
    Effect.gen(function* () {
      const { rpcUrl, advance } = yield* Simulator
      const before = yield* slotOf(rpcUrl)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* slotOf(rpcUrl), before)
      yield* advance(3)
      assert.strictEqual((yield* slotOf(rpcUrl)) - before, 3)
    }).pipe(Effect.provide(Simulator.layer({ speed: 0 })))
  )

  it.effect("names its mints and wallets, with SOL and USDC at their real addresses", () =>
    Effect.gen(function* () {
      const { mints, wallets, rpcUrl } = yield* Simulator
      assert.deepStrictEqual(
        mints()
          .slice(0, 2)
          .map(({ symbol, address, decimals }) => ({ symbol, address, decimals })),
        [
          { symbol: "SOL", address: SOL, decimals: 9 },
          { symbol: "USDC", address: USDC, decimals: 6 }
        ]
      )
      assert.strictEqual(new Set(mints().map(({ address }) => address)).size, mints().length)
      const whale = wallets.find(({ label }) => label === "whale 1")
      const balance = yield* call(rpcUrl, "getBalance", whale?.address)
      assert.isAbove(Number(at(balance, "result", "value")), 10_000_000_000_000)
    }).pipe(Effect.provide(Simulator.layer({ speed: 0 })))
  )

  it.effect("has its own genesis hash, which depends on its seed and its start", () =>
    Effect.gen(function* () {
      const name = yield* nameOf("one", 1_790_000_000_000)
      assert.strictEqual(bs58.decode(name).length, 32)
      assert.strictEqual(yield* nameOf("one", 1_790_000_000_000), name)
      assert.notStrictEqual(yield* nameOf("two", 1_790_000_000_000), name)
      assert.notStrictEqual(yield* nameOf("one", 1_790_000_000_001), name)
    })
  )

  it.effect("ends when its scope closes, whatever its clients do", () =>
    Effect.gen(function* () {
      const life = yield* Scope.make()
      const context = yield* Layer.buildWithScope(Simulator.layer(), life)
      const { rpcUrl, wsUrl, faults } = Context.get(context, Simulator)
      const { ask, closed } = yield* connect(wsUrl)
      yield* ask("slotSubscribe")
      yield* faults.set({ http: "frozen" })
      const waiting = yield* Effect.forkChild(Effect.exit(postText(rpcUrl, health)))
      yield* Scope.close(life, Exit.void)
      assert.strictEqual(yield* closed, 1006)
      yield* Fiber.interrupt(waiting)
      const failure = yield* Effect.promise(() => fetch(rpcUrl).catch((error: unknown) => error))
      assert.instanceOf(failure, Error)
    })
  )

  it.effect("reads its settings from the environment", () =>
    Effect.gen(function* () {
      const { digest, faults } = yield* Simulator
      assert.strictEqual(faults.current().accounts, "truncated")
      const named = Simulator.layer({ seed: "from the environment", speed: 0, hardships: true })
      const same = yield* Effect.provide(
        Effect.flatMap(Simulator, (simulator) => simulator.digest),
        named
      )
      assert.strictEqual(yield* digest, same)
    }).pipe(
      Effect.provide(Simulator.layerConfig),
      Effect.provide(
        ConfigProvider.layer(
          ConfigProvider.fromEnv({
            env: {
              SIMULATOR_SEED: "from the environment",
              SIMULATOR_SPEED: "0",
              SIMULATOR_HISTORY: "0",
              SIMULATOR_FAULTS_ACCOUNTS: "truncated"
            }
          })
        )
      )
    )
  )
})

describe("slotsToSkip", () => {
  it("catches up with a late slot, and skips the slots that a jump of the clock has passed", () => {
    assert.strictEqual(slotsToSkip(-400, 400), 0)
    assert.strictEqual(slotsToSkip(10_000, 400), 0)
    assert.strictEqual(slotsToSkip(3_600_000, 400), 9_000)
  })
})
