import { assert, describe, it, layer } from "@effect/vitest"
import { ConfigProvider, Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { ailmentConfig, healthy } from "../../../src/simulator/node/Faults.ts"
import { Simulator } from "../../../src/simulator/Simulator.ts"
import { at, call, connect, postText } from "./client.ts"

const CLOCK = "SysvarC1ock11111111111111111111111111111111"
const health = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getHealth" })

const slotOf = (frame: unknown) => Number(at(frame, "params", "result", "context", "slot"))
const dataOf = (account: unknown) => String(at(account, "data", 0))

layer(Simulator.layer({ seed: "faults", speed: 0, startUnixMs: 1_790_000_000_000 }))("Faults", (it) => {
  const cured = Effect.flatMap(Simulator, ({ faults }) => faults.clear)
  /** A socket that follows the clock, with everything put right afterwards. */
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
      // The first thing heard is what happened after the thaw.
      yield* advance(1)
      const slot = Number(at(yield* call(rpcUrl, "getSlot"), "result"))
      assert.strictEqual(slotOf(yield* next), slot)
      assert.isUndefined(waiting.pollUnsafe())
      assert.isNumber(at(yield* ask("slotSubscribe"), "result"))
      yield* Fiber.interrupt(waiting)
    })
  )

  it.effect("lag: answers and notifications come late, and in order", () =>
    Effect.gen(function* () {
      const { rpcUrl, wsUrl, faults, advance, next, pending } = yield* following
      const other = yield* connect(wsUrl)
      yield* faults.set({ lag: Duration.seconds(5) })
      const answer = yield* Effect.forkChild(postText(rpcUrl, health))
      yield* advance(2)
      yield* faults.clear
      // A whole round trip on another connection: had the frames been sent, they would be here.
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

  it.effect("drop: sockets end without a closing handshake, and may come back", () =>
    Effect.gen(function* () {
      const { wsUrl, faults, closed } = yield* following
      yield* faults.dropSockets
      assert.strictEqual(yield* closed, 1006)
      const again = yield* connect(wsUrl)
      assert.isNumber(at(yield* again.ask("slotSubscribe"), "result"))
    })
  )

  it.effect("skip: a slot is left out after the one that has been announced", () =>
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

  it.effect("malformed accounts: half the data, or data in no known encoding", () =>
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

  it.effect("recur at the configured interval", () =>
    Effect.gen(function* () {
      const { faults, advance, closed } = yield* following
      yield* faults.set({ dropEverySlots: 1 })
      yield* advance(1)
      assert.strictEqual(yield* closed, 1006)
    })
  )

  it.effect("reset the ledger: another genesis at a low slot, and sockets are cut", () =>
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
  it.effect("is good health when nothing is set", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* read({}), healthy)
    })
  )

  it.effect("names each fault, and refuses one it does not know", () =>
    Effect.gen(function* () {
      const ailment = yield* read({
        SIMULATOR_FAULTS_HTTP: "429",
        SIMULATOR_FAULTS_LAG: "250 millis",
        SIMULATOR_FAULTS_DUPLICATES: "true",
        SIMULATOR_FAULTS_ACCOUNTS: "truncated"
      })
      assert.deepStrictEqual(ailment, {
        ...healthy,
        http: "429",
        lag: Duration.millis(250),
        duplicates: true,
        accounts: "truncated"
      })
      assert.strictEqual((yield* Effect.flip(read({ SIMULATOR_FAULTS_HTTP: "418" })))._tag, "ConfigError")
    })
  )
})
