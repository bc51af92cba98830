import { NodeHttpClient, NodeSocket } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, References } from "effect"
import { ChainFeed } from "../../../src/chain/ChainFeed.ts"
import * as ChainFeedRpc from "../../../src/chain/accounts/ChainFeedRpc.ts"
import { TransactionStatus } from "../../../src/chain/rpc/TransactionStatus.ts"
import { Address } from "../../../src/domain/Address.ts"
import { Signature } from "../../../src/domain/Signature.ts"
import { pack, u32, u64, u8 } from "../../../src/programs/layout/pack.ts"
import { plainMint, TOKEN_PROGRAM } from "../../../src/programs/layout/tokenAccount.ts"
import { type Call, pays, reads, signs, writes } from "../../../src/programs/transactions/Call.ts"
import { derive } from "../../../src/quotes/execution/decodeFixture.ts"
import { deployedProgram, programDataAddress } from "../../../src/quotes/execution/deployment.ts"
import { loadRuntime } from "../../../src/quotes/execution/programRuntime.ts"
import { balanceIn, holding as tokens, TRADER, wallet } from "../../../src/quotes/execution/traderAccounts.ts"
import { litesvmNode } from "../../support/litesvmNode.ts"
import { tinyProgram } from "../../support/tinyProgram.ts"
import { portTo, signature as unused } from "../rpc/statusNode.ts"
import { at, holding, OWNER, readFeed, until } from "./accounts.ts"

const loaded = loadRuntime()
const makeRuntime = typeof loaded === "function" ? loaded : null
const absent = typeof loaded === "function" ? "" : ` (skipped: ${loaded.reason})`

const SYSTEM_PROGRAM = Address.make("11111111111111111111111111111111")
const SOL = 1_000_000_000n

const callOf = (program: Address, accounts: Call["accounts"], data: Uint8Array): Call => ({
  program,
  accounts,
  data,
  steps: [],
  units: 0
})

const payment = (to: Address, lamports: bigint) =>
  callOf(SYSTEM_PROGRAM, [pays(TRADER), writes(to)], pack(u32(2), u64(lamports)))

const transfer = (amount: bigint) =>
  callOf(TOKEN_PROGRAM, [writes(at(3)), writes(at(4)), signs(TRADER)], pack(u8(3), u64(amount)))

const newNode = litesvmNode(makeRuntime ?? (() => assert.fail("no runtime")))

describe.skipIf(makeRuntime === null)(`a node with real programs${absent}`, () => {
  it.effect("executes several instructions as one transaction, and none of them when one fails", () =>
    Effect.gen(function* () {
      const node = yield* newNode
      const mint = plainMint(at(2))
      const [from, to] = [tokens(at(3), TRADER, mint, 100n), tokens(at(4), at(9), mint, 0n)]
      node.write([wallet(TRADER, 3n * SOL), mint, from, to])
      const balances = () => [at(3), at(4)].map((one) => balanceIn(node.account(one)?.data ?? assert.fail("absent")))

      const failed = node.execute(TRADER, [transfer(40n), transfer(61n)])
      assert.include(failed.error ?? "", "0x1")
      assert.deepStrictEqual(balances(), [100n, 0n])

      const before = node.clock().slot
      const done = node.execute(TRADER, [transfer(40n), transfer(60n), payment(at(5), SOL)])
      assert.deepInclude(done, { slot: before + 1 })
      assert.isUndefined(done.error)
      assert.deepStrictEqual(balances(), [0n, 100n])
      assert.strictEqual(node.account(at(5))?.lamports, SOL)
      // Both transactions paid the fee of one signature.
      assert.strictEqual(node.account(TRADER)?.lamports, 2n * SOL - 10_000n)
    })
  )

  it.live("answers the service about a transaction that succeeded and one that failed", () =>
    Effect.gen(function* () {
      const node = yield* newNode
      node.write([wallet(TRADER, 3n * SOL)])
      const paid = node.execute(TRADER, [payment(at(5), SOL)])
      const failed = node.execute(TRADER, [payment(at(6), SOL), payment(at(5), 9n * SOL)])
      yield* Effect.gen(function* () {
        const { find } = yield* TransactionStatus
        const success = yield* find(Signature.make(paid.signature))
        assert.deepInclude(success, { feeLamports: 5000n, error: null, slot: paid.slot })
        const failure = yield* find(Signature.make(failed.signature))
        assert.deepInclude(failure, { state: "failed", feeLamports: 5000n, slot: failed.slot })
        assert.deepInclude(failure.error, { code: "insufficient_funds", instructionIndex: 1, customCode: 1 })
        assert.isUndefined(node.account(at(6)))
        assert.strictEqual((yield* Effect.flip(find(unused)))._tag, "UnknownTransaction")
      }).pipe(Effect.provide(portTo({ rpcUrl: node.rpcUrl, timeout: Duration.seconds(30) })))
    })
  )

  it.effect("passes slots only by command, at four tenths of a second each", () =>
    Effect.gen(function* () {
      const node = yield* newNode
      const { slot, unixTimestamp } = node.clock()
      assert.strictEqual(node.pass(10), slot + 10)
      assert.deepInclude(node.clock(), { slot: slot + 10, unixTimestamp: unixTimestamp + 4 })
    })
  )

  it.effect("refuses to deploy what is no program", () =>
    Effect.gen(function* () {
      const node = yield* newNode
      assert.throws(() => node.deploy(at(7), Uint8Array.of(1, 2, 3)))
      assert.isUndefined(node.account(at(7)))
    })
  )

  it.live("is searched, watched and followed by the service's own feed", () =>
    Effect.gen(function* () {
      const node = yield* newNode
      const [here, absentOne] = [at(11), at(12)]
      node.write([wallet(TRADER, 3n * SOL), holding(here, [1, 2, 3, 4])])
      yield* Effect.gen(function* () {
        const feed = yield* ChainFeed
        const reader = yield* readFeed(feed)
        const search = { programId: OWNER, dataSize: 4, matches: [{ offset: 1, bytes: Uint8Array.of(2, 3) }] }
        assert.deepStrictEqual([...(yield* feed.accountsOf(search)).accounts.keys()], [here])

        yield* feed.watch([here, absentOne])
        yield* until("both are emitted", () => reader.known.size === 2)
        assert.deepStrictEqual(reader.bytes(here), [1, 2, 3, 4])
        assert.isNull(reader.known.get(absentOne))

        for (const byte of [7, 8, 9]) {
          node.write([holding(here, [byte, 0, 0])])
          node.pass()
          yield* until("the change is emitted", () => reader.bytes(here)?.[0] === byte)
        }
        node.execute(TRADER, [payment(absentOne, SOL)])
        node.pass()
        yield* until("the payment is emitted", () => reader.known.get(absentOne)?.lamports === SOL)
        const { slot } = node.clock()
        yield* until("slots go on", () => feed.freshness().slot >= slot)
        assert.strictEqual(feed.clock().unixTimestamp, node.clock().unixTimestamp)
      }).pipe(
        Effect.provide(
          ChainFeedRpc.layer({ rpcUrl: node.rpcUrl, wsUrl: node.wsUrl }).pipe(
            Layer.provide([
              NodeHttpClient.layerUndici,
              NodeSocket.layerWebSocketConstructor,
              Layer.succeed(References.MinimumLogLevel, "None")
            ])
          )
        )
      )
    })
  )

  it.effect("knows a deployed program and the slot of its upgrade", () =>
    Effect.gen(function* () {
      const node = yield* newNode
      node.write([wallet(TRADER, 3n * SOL)])
      const id = at(30)
      node.deploy(id, tinyProgram)
      const slot = node.deploy(id, tinyProgram)
      const program = deployedProgram(id, (address) => node.account(address))
      assert.deepInclude(program, { slot })
      assert.isDefined(node.account(programDataAddress(id, derive)))
      assert.isUndefined(node.execute(TRADER, [callOf(id, [reads(at(31))], new Uint8Array(0))]).error)
    })
  )
})
