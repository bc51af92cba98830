/** The watch over a simulated node, on real sockets. */
import { NodeHttpClient, NodeSocket } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Layer, References } from "effect"
import { meteoraDlmm } from "../../../src/programs/meteora/dlmm.ts"
import { programs } from "../../../src/programs/registry.ts"
import { deployedProgram, programDataAddress, programOf } from "../../../src/quotes/execution/deployment.ts"
import { ProgramWatch } from "../../../src/quotes/execution/ProgramWatch.ts"
import { ChainFeed } from "../../../src/chain/ChainFeed.ts"
import * as ChainFeedRpc from "../../../src/chain/accounts/ChainFeedRpc.ts"
import { makeDeriveAddress } from "../../../src/chain/programAddress.ts"
import * as TransactionHistoryRpc from "../../../src/chain/rpc/TransactionHistoryRpc.ts"
import { until } from "../../chain/accounts/accounts.ts"
import { simulatedNode } from "../../chain/accounts/nodeScene.ts"
import * as MemoryProofs from "./memoryProofs.ts"

const { dex, programId } = meteoraDlmm
const elf = Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 1, 2, 3)

const sockets = Layer.mergeAll(
  NodeHttpClient.layerUndici,
  NodeSocket.layerWebSocketConstructor,
  Layer.succeed(References.MinimumLogLevel, "None")
)

describe("the watch over a node", () => {
  it.live("sees the programs of the chain, and when one is upgraded", () =>
    Effect.gen(function* () {
      const node = yield* simulatedNode("programs")
      const { rpcUrl, wsUrl } = node
      const built = yield* Layer.build(
        ProgramWatch.layer.pipe(
          Layer.provideMerge([
            ChainFeedRpc.layer({ rpcUrl, wsUrl }),
            TransactionHistoryRpc.layer({ rpcUrl }),
            MemoryProofs.layer(MemoryProofs.memoryProofs())
          ]),
          Layer.provide([
            sockets,
            ConfigProvider.layer(ConfigProvider.fromEnv({ env: { PROGRAM_REFRESH: "1 second" } }))
          ])
        )
      )
      const { states } = Context.get(built, ProgramWatch)
      yield* until("the programs are read", () => states().every(({ state }) => state === "unchanged"))
      assert.deepStrictEqual(
        states().map((one) => one.dex),
        programs.map((one) => one.dex)
      )
      yield* node.advance(2)
      yield* node.upgrade(programId, elf)
      yield* until("the upgrade is seen", () => states().some(({ state }) => state === "unproven"))
      const [upgraded, ...others] = states().filter((one) => one.upgraded !== false)
      assert.deepInclude(upgraded, { dex, state: "unproven", upgraded: true })
      assert.isAbove(upgraded?.deployedAtSlot ?? 0, 0)
      assert.deepStrictEqual(others, [])
      const data = programDataAddress(programId, makeDeriveAddress())
      const { accounts } = yield* Context.get(built, ChainFeed).read([programId, data])
      const program = deployedProgram(programId, (address) => accounts.get(address))
      assert.deepStrictEqual(program, { ...programOf(elf), slot: upgraded?.deployedAtSlot ?? null })
    })
  )
})
