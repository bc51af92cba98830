import { assert, describe, it, layer } from "@effect/vitest"
import { ConfigProvider, Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { ailmentConfig, healthy } from "../../../src/simulator/node/Faults.ts"
import { Simulator } from "../../../src/simulator/Simulator.ts"
import { at, call, connect, postText } from "./client.ts"

const CLOCK = "SysvarC1ock11111111111111111111111111111111"
const health = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getHealth" })

const NEWEST_VERSION = { maxSupportedTransactionVersion: 0 }

const slotOf = (frame: unknown) => Number(at(frame, "params", "result", "context", "slot"))
const dataOf = (account: unknown) => String(at(account, "data", 0))

layer(Simulator.layer({ seed: "faults", speed: 0, startUnixMs: 1_790_000_000_000 }))("Faults", (it) => {
  const cured = Effect.flatMap(Simulator, ({ faults }) => faults.clear)
  /** A socket that follows the clock. All faults are cleared afterwards. */
  const following = Effect.gen(function* () {
    const simulator = yield* Simulator
    yield* Effect.addFinalizer(() => simulator.faults.clear)
    const socket = yield* connect(simulator.wsUrl)
    yield* socket.ask("accountSubscribe", CLOCK, { encoding: "base64" })
    return { ...simulator, ...socket }
  })

  it.effect("answer requests and handshakes with 503 or 429", () =>
    Effect.gen(function* () {
      const { rpcUrl, wsUrl, faults } = yield* Simulator
      yield* faults.set({ http: "503" })
      assert.strictEqual((yield* postText(rpcUrl, health)).status, 503)
      yield* faults.set({ http: "429" })
      assert.strictEqual((yield* postText(rpcUrl, health)).status, 429)
      const refused = yield* Effect.callback<string>((resume) => {
        const socket = new WebSocket(wsUrl)
        socket.addEventListener("open", () => resume(Effect.succeed("open")))
        socket.addEventListener("error", () => resume(Effect.succeed("error")))
      })
      assert.strictEqual(refused, "error")
      yield* faults.clear
      assert.strictEqual((yield* postText(rpcUrl, health)).status, 200)
    }).pipe(Effect.ensuring(cured))
  )

  it.effect("redirect requests, and refuse sockets alone", () =>
    Effect.gen(function* () {
      const { rpcUrl, wsUrl, faults } = yield* Simulator
      yield* faults.set({ http: "redirect" })
      const redirected = yield* Effect.promise(() =>
        fetch(rpcUrl, { method: "POST", body: health, redirect: "manual" })
      )
      assert.strictEqual(redirected.status, 302)
      yield* faults.set({ http: "ok", sockets: "refused" })
      assert.strictEqual((yield* postText(rpcUrl, health)).status, 200)
      const refused = yield* Effect.callback<string>((resume) => {
        const socket = new WebSocket(wsUrl)
        socket.addEventListener("open", () => resume(Effect.succeed("open")))
        socket.addEventListener("error", () => resume(Effect.succeed("error")))
      })
      assert.strictEqual(refused, "error")
    }).pipe(Effect.ensuring(cured))
  )

  it.effect("falsify the times of blocks, not the clock", () =>
    Effect.gen(function* () {
      const { rpcUrl, advance, faults } = yield* Simulator
      yield* advance(1)
      yield* faults.set({ blockTimes: "1970" })
      const slot = Number(at(yield* call(rpcUrl, "getSlot"), "result"))
      assert.isBelow(Number(at(yield* call(rpcUrl, "getBlockTime", slot), "result")), 1_000_000_000)
      const full = { encoding: "json", maxSupportedTransactionVersion: 0 }
      assert.isBelow(Number(at(yield* call(rpcUrl, "getBlock", slot, full), "result", "blockTime")), 1_000_000_000)
      const clock = at(yield* call(rpcUrl, "getAccountInfo", CLOCK, { encoding: "base64" }), "result", "value")
      assert.isAbove(Number(Buffer.from(dataOf(clock), "base64").readBigInt64LE(32)), 1_789_999_999)
    }).pipe(Effect.ensuring(cured))
  )

  it.effect("freeze: requests are accepted and never answered, sockets fall silent", () =>
    Effect.gen(function* () {
      const { rpcUrl, faults, advance, next, ask } = yield* following
      yield* faults.set({ http: "frozen" })
      const waiting = yield* Effect.forkChild(postText(rpcUrl, health))
      yield* advance(3)
      yield* faults.clear
      // The first thing the socket hears happened after the thaw.
      yield* advance(1)
      const slot = Number(at(yield* call(rpcUrl, "getSlot"), "result"))
      assert.strictEqual(slotOf(yield* next), slot)
      assert.isUndefined(waiting.pollUnsafe())
      assert.isNumber(at(yield* ask("slotSubscribe"), "result"))
      yield* Fiber.interrupt(waiting)
    })
  )

  it.effect("lag: answers and notifications come late, but in order", () =>
    Effect.gen(function* () {
      const { rpcUrl, wsUrl, faults, advance, next, pending } = yield* following
      const other = yield* connect(wsUrl)
      yield* faults.set({ lag: Duration.seconds(5) })
      const answer = yield* Effect.forkChild(postText(rpcUrl, health))
      yield* advance(2)
      yield* faults.clear
      // This waits for a whole round trip on another connection. Frames that had been sent would have arrived by now.
      yield* other.ask("slotSubscribe")
      assert.strictEqual(yield* pending, 0)
      yield* TestClock.adjust("6 seconds")
      const [first, second] = [slotOf(yield* next), slotOf(yield* next)]
      assert.strictEqual(second, first + 1)
      yield* Fiber.interrupt(answer)
    })
  )

  it.effect("duplicates: every notification comes twice", () =>
    Effect.gen(function* () {
      const { faults, advance, next } = yield* following
      yield* faults.set({ duplicates: true })
      yield* advance(1)
      assert.deepStrictEqual(yield* next, yield* next)
    })
  )

  it.effect("reorder: a slot's notifications come after the next slot's", () =>
    Effect.gen(function* () {
      const { faults, advance, next } = yield* following
      yield* faults.set({ reorder: true })
      yield* advance(2)
      const [first, second] = [slotOf(yield* next), slotOf(yield* next)]
      assert.strictEqual(second, first - 1)
    })
  )

  it.effect("drop: sockets end without a closing handshake, and clients may reconnect", () =>
    Effect.gen(function* () {
      const { wsUrl, faults, closed } = yield* following
      yield* faults.dropSockets
      assert.strictEqual(yield* closed, 1006)
      const again = yield* connect(wsUrl)
      assert.isNumber(at(yield* again.ask("slotSubscribe"), "result"))
    })
  )

  it.effect("skip leaves out the slot after the announced one", () =>
    Effect.gen(function* () {
      const { wsUrl, faults, advance } = yield* Simulator
      const { ask, next } = yield* connect(wsUrl)
      yield* ask("slotSubscribe")
      yield* advance(1)
      const announced = Number(at(yield* next, "params", "result", "slot"))
      yield* faults.skipSlots(3)
      yield* advance(2)
      assert.deepInclude(at(yield* next, "params", "result"), { parent: announced, slot: announced + 4 })
      assert.deepInclude(at(yield* next, "params", "result"), { parent: announced + 4, slot: announced + 5 })
    })
  )

  it.effect("malformed accounts: half the data, or data in an unknown encoding", () =>
    Effect.gen(function* () {
      const { rpcUrl, faults } = yield* Simulator
      const data = Effect.map(call(rpcUrl, "getAccountInfo", CLOCK, { encoding: "base64" }), (answer) =>
        dataOf(at(answer, "result", "value"))
      )
      yield* faults.set({ accounts: "truncated" })
      assert.strictEqual(Buffer.from(yield* data, "base64").length, 20)
      yield* faults.set({ accounts: "garbled" })
      assert.notMatch(yield* data, /^[A-Za-z0-9+/]+=*$/u)
      yield* faults.clear
      assert.strictEqual(Buffer.from(yield* data, "base64").length, 40)
    }).pipe(Effect.ensuring(cured))
  )

  it.effect("fail a share of block reads, and cut some answers in half", () =>
    Effect.gen(function* () {
      const { rpcUrl, advance, faults } = yield* Simulator
      yield* advance(1)
      const slot = Number(at(yield* call(rpcUrl, "getSlot"), "result"))
      const read = (wanted: number) =>
        postText(
          rpcUrl,
          JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getBlock", params: [wanted, NEWEST_VERSION] })
        )
      yield* faults.set({ blockFailures: 0.5 })
      const answers = yield* Effect.forEach(Array.from({ length: 60 }), () => read(slot))
      const failed = answers.filter(({ json }) => at(json, "error", "code") === -32603).length
      assert.isTrue(failed > 15 && failed < 45, String(failed))
      assert.strictEqual(
        answers.filter(({ json }) => at(json, "result", "parentSlot") === slot - 1).length,
        60 - failed
      )
      yield* faults.set({ blockFailures: 0, truncatedBlocks: { from: slot, to: slot } })
      assert.isUndefined((yield* read(slot)).json)
      assert.isDefined((yield* read(slot - 1)).json)
      assert.isNumber(at(yield* call(rpcUrl, "getBlockTime", slot), "result"))
    }).pipe(Effect.ensuring(cured))
  )

  it.effect("prune the blocks before a slot, on one node of several", () =>
    Effect.gen(function* () {
      const { rpcUrl, addNode, advance } = yield* Simulator
      yield* advance(5)
      const slot = Number(at(yield* call(rpcUrl, "getSlot"), "result"))
      const other = yield* addNode({ ...healthy, prunedBelow: slot - 1 })
      const code = (url: string) =>
        Effect.map(call(url, "getBlock", slot - 2, NEWEST_VERSION), (answer) => at(answer, "error", "code"))
      assert.strictEqual(yield* code(other.rpcUrl), -32001)
      assert.isUndefined(yield* code(rpcUrl))
      assert.strictEqual(at(yield* call(other.rpcUrl, "getFirstAvailableBlock"), "result"), slot - 1)
      assert.deepStrictEqual(at(yield* call(other.rpcUrl, "getBlocks", slot - 4), "result"), [slot - 1, slot])
    })
  )

  it.effect("halt the chain: the node answers, and slots pass without blocks", () =>
    Effect.gen(function* () {
      const { rpcUrl, advance, faults } = yield* Simulator
      const slot = Number(at(yield* call(rpcUrl, "getSlot"), "result"))
      yield* faults.set({ halted: true })
      yield* advance(10)
      assert.strictEqual(at(yield* call(rpcUrl, "getSlot"), "result"), slot)
      yield* faults.clear
      yield* advance(2)
      const newest = Number(at(yield* call(rpcUrl, "getSlot"), "result"))
      assert.strictEqual(newest, slot + 12)
      assert.strictEqual(at(yield* call(rpcUrl, "getBlock", newest, NEWEST_VERSION), "result", "parentSlot"), slot + 1)
    }).pipe(Effect.ensuring(cured))
  )

  it.effect("recur at the configured interval", () =>
    Effect.gen(function* () {
      const { faults, advance, closed } = yield* following
      yield* faults.set({ dropEverySlots: 1 })
      yield* advance(1)
      assert.strictEqual(yield* closed, 1006)
    })
  )

  it.effect("reset the ledger: another genesis hash at a low slot, and sockets are cut", () =>
    Effect.gen(function* () {
      const { rpcUrl, advance, closed, faults } = yield* following
      const genesis = at(yield* call(rpcUrl, "getGenesisHash"), "result")
      yield* faults.resetLedger
      yield* closed
      assert.notStrictEqual(at(yield* call(rpcUrl, "getGenesisHash"), "result"), genesis)
      yield* advance(1)
      assert.isBelow(Number(at(yield* call(rpcUrl, "getSlot"), "result")), 1100)
    })
  )
})

const read = (env: Record<string, string>) => ailmentConfig.parse(ConfigProvider.fromEnv({ env }))

describe("ailmentConfig", () => {
  it.effect("has no faults when nothing is set", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* read({}), healthy)
    })
  )

  it.effect("has a setting for each fault, and rejects unknown values", () =>
    Effect.gen(function* () {
      const ailment = yield* read({
        SIMULATOR_FAULTS_HTTP: "429",
        SIMULATOR_FAULTS_LAG: "250 millis",
        SIMULATOR_FAULTS_BLOCK_LAG: "1500 millis",
        SIMULATOR_FAULTS_DUPLICATES: "true",
        SIMULATOR_FAULTS_ACCOUNTS: "truncated",
        SIMULATOR_FAULTS_BLOCK_FAILURES: "0.05",
        SIMULATOR_FAULTS_TRUNCATED_BLOCKS: "100-200",
        SIMULATOR_FAULTS_PRUNED_BELOW: "50",
        SIMULATOR_FAULTS_HALTED: "true"
      })
      assert.deepStrictEqual(ailment, {
        ...healthy,
        http: "429",
        lag: Duration.millis(250),
        blockLagMs: 1500,
        duplicates: true,
        accounts: "truncated",
        blockFailures: 0.05,
        truncatedBlocks: { from: 100, to: 200 },
        prunedBelow: 50,
        halted: true
      })
      for (const range of ["100", "a-b", "1-2-3"]) {
        assert.strictEqual((yield* Effect.flip(read({ SIMULATOR_FAULTS_TRUNCATED_BLOCKS: range })))._tag, "ConfigError")
      }
      assert.strictEqual((yield* Effect.flip(read({ SIMULATOR_FAULTS_HTTP: "418" })))._tag, "ConfigError")
    })
  )
})
