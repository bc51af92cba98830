/**
 * A node whose transactions real programs execute, in LiteSVM. It speaks the JSON-RPC and WebSocket subset of the
 * simulator's node. Slots pass only by command.
 */
import { Effect } from "effect"
import type { Address } from "../../src/domain/Address.ts"
import type { ChainClock, OnChainAccount } from "../../src/domain/OnChainAccount.ts"
import type { Call } from "../../src/programs/transactions/Call.ts"
import { derive } from "../../src/quotes/execution/decodeFixture.ts"
import type { Runtime } from "../../src/quotes/execution/programRuntime.ts"
import { type Bank, makeBank } from "../../src/simulator/chain/Bank.ts"
import { deployProgram } from "../../src/simulator/chain/programAccounts.ts"
import { healthy } from "../../src/simulator/node/Faults.ts"
import { makeSolanaNode } from "../../src/simulator/node/SolanaNode.ts"

/** Accounts without a slot: they get the slot in which they are written. */
type Written = Omit<OnChainAccount, "slot">

export interface LitesvmNode {
  readonly rpcUrl: string
  readonly wsUrl: string
  /** Finishes a slot with these accounts in it. Returns the slot. */
  readonly write: (accounts: Iterable<Written>) => number
  /** Deploys a program, or upgrades it, in a slot of its own. Throws when the runtime rejects the bytes. */
  readonly deploy: (programId: Address, elf: Uint8Array) => number
  /**
   * Executes a transaction at the newest slot's clock. Its effects are in the next slot. Returns the program's error
   * when it fails; then nothing changes.
   */
  readonly execute: (
    payer: Address,
    calls: ReadonlyArray<Call>
  ) => { readonly slot: number } | { readonly error: string }
  /** Finishes this many empty slots. Returns the newest one. */
  readonly pass: (slots?: number) => number
  readonly account: (address: Address) => OnChainAccount | undefined
  /** The clock of the newest slot. */
  readonly clock: () => ChainClock
}

const SEED = "litesvm"

const nodeOf = (bank: Bank, runtime: Runtime, publish: (block: ReturnType<Bank["newest"]>) => void) => {
  const finish = (build: () => void): number => {
    const block = bank.produce(() => {
      build()
      return []
    })
    runtime.setClock(bank.clock())
    publish(block)
    return block.slot
  }
  const put = (account: Written): void => {
    runtime.setAccount({ ...account, slot: bank.clock().slot })
    bank.put(account)
  }
  return {
    write: (accounts: Iterable<Written>) => finish(() => Array.from(accounts).forEach(put)),
    deploy: (programId: Address, elf: Uint8Array) => {
      runtime.deploy(programId, elf)
      return finish(() => deployProgram({ bank, derive }, programId, bank.clock().slot, elf))
    },
    execute: (payer: Address, calls: ReadonlyArray<Call>) => {
      const execution = runtime.simulate(payer, calls)
      if ("error" in execution) {
        return { error: execution.error }
      }
      const writable = new Set(
        calls.flatMap(({ accounts }) => accounts.filter((one) => one.writable).map(({ address }) => address))
      )
      return {
        slot: finish(() => {
          for (const address of [payer, ...writable]) {
            const after = execution.after(address)
            if (after !== undefined) {
              put({ address, ...after })
            }
          }
        })
      }
    },
    pass: (slots = 1) => Array.from({ length: slots }, () => finish(() => undefined)).at(-1) ?? bank.newest().slot,
    account: bank.get,
    clock: bank.clock
  }
}

/** Serves a chain until the scope closes. It begins at this slot and time, with no account but its clock. */
export const litesvmNode = Effect.fnUntraced(function* (
  makeRuntime: () => Runtime,
  start: { readonly slot: number; readonly unixTimestamp: number } = { slot: 1_000, unixTimestamp: 1_790_000_000 }
) {
  const bank = makeBank({ seed: SEED, startSlot: start.slot, startUnixMs: start.unixTimestamp * 1000 })
  const node = yield* makeSolanaNode({ seed: SEED, bank: () => bank, ailment: healthy, resetLedger: () => undefined })
  const runtime = makeRuntime()
  runtime.setClock(bank.clock())
  return { rpcUrl: node.rpcUrl, wsUrl: node.wsUrl, ...nodeOf(bank, runtime, node.publish) } satisfies LitesvmNode
})
