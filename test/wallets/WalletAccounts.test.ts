import { assert, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { Address } from "../../src/domain/Address.ts"
import { fromBase58 } from "../../src/domain/base58.ts"
import { Market } from "../../src/market/tape/Market.ts"
import { ChainUnavailable } from "../../src/chain/ChainUnavailable.ts"
import { type OwnedRequest, TokenAccounts } from "../../src/chain/rpc/TokenAccounts.ts"
import { TOKEN_PROGRAMS } from "../../src/chain/rpc/TokenAccounts.ts"
import { WalletAccounts } from "../../src/wallets/WalletAccounts.ts"
import { MINT, OTHER, WALLET, walletOf } from "./trades.ts"

const account = (owner: Address, units: bigint): Uint8Array => {
  const data = new Uint8Array(72)
  data.set(fromBase58(MINT) ?? [], 0)
  data.set(fromBase58(owner) ?? [], 32)
  new DataView(data.buffer).setBigUint64(64, units, true)
  return data
}

/**
 * A service over a node that answers at slots 7 and 8, with the requests that the node got; `fails` makes it refuse a
 * wallet.
 */
const over = (rate: number, fails: (owner: Address) => ChainUnavailable | null = () => null) => {
  const requests: Array<OwnedRequest> = []
  const node = Layer.succeed(TokenAccounts, {
    lamportsOf: () => Effect.die("reading accounts needs no SOL"),
    ofOwner: (request) => {
      requests.push(request)
      const failure = fails(request.owner)
      const isFirst = request.program === TOKEN_PROGRAMS[0]
      return failure === null
        ? Effect.succeed({
            slot: isFirst ? 7 : 8,
            accounts: isFirst ? [account(request.owner, 3n), account(request.owner, 4n)] : []
          })
        : Effect.fail(failure)
    }
  })
  const config = ConfigProvider.layer(ConfigProvider.fromUnknown({ WALLET_ACCOUNTS_RATE: rate }))
  return { requests, layer: WalletAccounts.layer.pipe(Layer.provide([node, Market.layerManual(), config])) }
}

const failure = (reason: "invalid" | "timeout" | "unreachable") => new ChainUnavailable({ reason, detail: "no" })

it.effect("reads the accounts of a wallet once, under both programs, at the configured rate", () => {
  const { layer, requests } = over(2)
  return Effect.gen(function* () {
    const accounts = yield* WalletAccounts
    const wallets = [WALLET, OTHER, walletOf(1), walletOf(2)]
    accounts.ask([...wallets, WALLET])
    assert.strictEqual(accounts.of(WALLET), "waiting")
    yield* TestClock.adjust("1 second")
    assert.isAtMost(requests.length, 6)
    yield* TestClock.adjust("2 seconds")
    accounts.ask(wallets)
    yield* TestClock.adjust("2 seconds")
    assert.deepStrictEqual(
      requests.map(({ owner }) => owner),
      wallets.flatMap((wallet) => [wallet, wallet])
    )
    const read = accounts.of(WALLET)
    assert.isTrue(typeof read === "object")
    if (typeof read === "object") {
      assert.deepStrictEqual(read.of(MINT), { units: 7n, slot: 7 })
      assert.deepStrictEqual(read.of(OTHER), { units: 0n, slot: 8 })
    }
    accounts.again(WALLET)
    assert.strictEqual(accounts.of(WALLET), "waiting")
    yield* TestClock.adjust("1 second")
    assert.lengthOf(requests, 10)
    accounts.startAnew()
    assert.strictEqual(accounts.of(WALLET), "waiting")
  }).pipe(Effect.provide(layer))
})

it.effect("passes over a wallet that the node refuses, and waits while the node is away", () => {
  const away = { is: true }
  const { layer } = over(10, (owner) =>
    owner === OTHER ? failure("invalid") : away.is ? failure("unreachable") : null
  )
  return Effect.gen(function* () {
    const accounts = yield* WalletAccounts
    accounts.ask([OTHER, WALLET])
    yield* TestClock.adjust("3 seconds")
    assert.deepStrictEqual([accounts.of(OTHER), accounts.of(WALLET)], ["unavailable", "waiting"])
    away.is = false
    yield* TestClock.adjust("6 seconds")
    assert.isTrue(typeof accounts.of(WALLET) === "object")
  }).pipe(Effect.provide(layer))
})

it.effect("reads a refused wallet again after ten minutes, when it is requested", () => {
  const refuses = { is: true }
  const { layer, requests } = over(10, () => (refuses.is ? failure("invalid") : null))
  return Effect.gen(function* () {
    const accounts = yield* WalletAccounts
    accounts.ask([WALLET])
    yield* TestClock.adjust("1 second")
    refuses.is = false
    accounts.ask([WALLET])
    yield* TestClock.adjust("9 minutes")
    assert.lengthOf(requests, 1)
    assert.strictEqual(accounts.of(WALLET), "unavailable")
    yield* TestClock.adjust("1 minute")
    accounts.ask([WALLET])
    assert.strictEqual(accounts.of(WALLET), "waiting")
    yield* TestClock.adjust("1 second")
    assert.isTrue(typeof accounts.of(WALLET) === "object")
  }).pipe(Effect.provide(layer))
})

it.effect("waits for the new read of a wallet that was refused earlier", () => {
  const { layer } = over(10, () => failure("invalid"))
  return Effect.gen(function* () {
    const accounts = yield* WalletAccounts
    accounts.ask([WALLET])
    yield* TestClock.adjust("1 second")
    assert.strictEqual(accounts.of(WALLET), "unavailable")
    accounts.againFirst(WALLET)
    assert.strictEqual(accounts.of(WALLET), "waiting")
  }).pipe(Effect.provide(layer))
})

it.effect("reads tracked wallets before wallets that callers request, however many wait", () => {
  const { layer, requests } = over(10)
  return Effect.gen(function* () {
    const accounts = yield* WalletAccounts
    accounts.againFirst(OTHER)
    yield* TestClock.adjust("1 second")
    accounts.ask(Array.from({ length: 11_000 }, (_, n) => walletOf(n)))
    accounts.againFirst(OTHER)
    accounts.againFirst(WALLET)
    assert.deepStrictEqual([accounts.of(OTHER), accounts.of(WALLET)], ["waiting", "waiting"])
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(
      requests.slice(2, 6).map(({ owner }) => owner),
      [OTHER, OTHER, WALLET, WALLET]
    )
    assert.isTrue(typeof accounts.of(WALLET) === "object")
  }).pipe(Effect.provide(layer))
})

it.effect("reads nothing with a rate of zero", () => {
  const { layer, requests } = over(0)
  return Effect.gen(function* () {
    const accounts = yield* WalletAccounts
    accounts.ask([WALLET])
    yield* TestClock.adjust("5 seconds")
    assert.strictEqual(accounts.of(WALLET), "unavailable")
    assert.lengthOf(requests, 0)
  }).pipe(Effect.provide(layer))
})

it.effect("reads other wallets, tracked and requested, while the read of one wallet always times out", () => {
  const { layer, requests } = over(10, (owner) => (owner === OTHER ? failure("timeout") : null))
  return Effect.gen(function* () {
    const accounts = yield* WalletAccounts
    accounts.againFirst(OTHER)
    accounts.againFirst(WALLET)
    accounts.ask([walletOf(1)])
    yield* TestClock.adjust("6 seconds")
    assert.isTrue(typeof accounts.of(WALLET) === "object")
    assert.isTrue(typeof accounts.of(walletOf(1)) === "object")
    assert.strictEqual(accounts.of(OTHER), "waiting")
    yield* TestClock.adjust("1 minute")
    assert.isAbove(requests.filter(({ owner }) => owner === OTHER).length, 1)
  }).pipe(Effect.provide(layer))
})

it.effect("reads the wallets that callers request while the reads of several tracked wallets always time out", () => {
  const tracked = Array.from({ length: 12 }, (_, n) => walletOf(n))
  const { layer, requests } = over(10, (owner) => (tracked.includes(owner) ? failure("timeout") : null))
  return Effect.gen(function* () {
    const accounts = yield* WalletAccounts
    tracked.forEach((wallet) => accounts.againFirst(wallet))
    accounts.ask([OTHER])
    yield* TestClock.adjust("70 seconds")
    assert.isTrue(typeof accounts.of(OTHER) === "object")
    yield* TestClock.adjust("90 seconds")
    accounts.ask(Array.from({ length: 20 }, (_, n) => walletOf(50 + n)))
    yield* TestClock.adjust("10 seconds")
    assert.isTrue(typeof accounts.of(walletOf(69)) === "object")
    // They are still tried, and read once they can be.
    const before = requests.length
    yield* TestClock.adjust("1 minute")
    assert.isAbove(requests.slice(before).filter(({ owner }) => tracked.includes(owner)).length, 5)
  }).pipe(Effect.provide(layer))
})

it.effect("does not read wallets that are no longer tracked, so that they delay no other wallet", () => {
  const { layer, requests } = over(10)
  return Effect.gen(function* () {
    const accounts = yield* WalletAccounts
    const gone = Array.from({ length: 50 }, (_, n) => walletOf(n))
    gone.forEach((wallet) => accounts.againFirst(wallet))
    accounts.againFirst(WALLET)
    accounts.ask([OTHER])
    accounts.againFirst(OTHER)
    gone.forEach((wallet) => accounts.withdraw(wallet))
    // A caller has requested it too.
    accounts.withdraw(OTHER)
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(
      requests.map(({ owner }) => owner),
      [WALLET, WALLET, OTHER, OTHER]
    )
  }).pipe(Effect.provide(layer))
})
