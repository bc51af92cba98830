/** A chain whose programs can be deployed, upgraded and closed, with a watch of them. */
import { ConfigProvider, Effect, Layer, Stream } from "effect"
import type { Address } from "../../../src/domain/Address.ts"
import type { OnChainAccount } from "../../../src/domain/OnChainAccount.ts"
import * as Readings from "../../../src/operations/Readings.ts"
import * as SourceMonitor from "../../../src/operations/SourceMonitor.ts"
import { programs } from "../../../src/programs/registry.ts"
import { ProgramWatch } from "../../../src/quotes/execution/ProgramWatch.ts"
import { deployProgram } from "../../../src/simulator/chain/programAccounts.ts"
import { ChainFeed, type DataSlice, type Freshness } from "../../../src/chain/ChainFeed.ts"
import { ChainUnavailable } from "../../../src/chain/ChainUnavailable.ts"
import { CLOCK } from "../../../src/chain/clockSysvar.ts"
import { makeDeriveAddress } from "../../../src/chain/programAddress.ts"
import { TransactionHistory } from "../../../src/chain/rpc/TransactionHistory.ts"
import * as MemoryProofs from "./memoryProofs.ts"

const derive = makeDeriveAddress()

/** Accounts of a chain, and which of them were read. */
export class ProgramChain {
  readonly accounts = new Map<Address, OnChainAccount>()
  readonly slices: Array<DataSlice | undefined> = []
  readonly proofs = MemoryProofs.memoryProofs()
  isAway = false
  /** True makes the next reads die. */
  isBroken = false
  state: Freshness["state"] = "live"
  slot = 1000

  constructor() {
    programs.forEach(({ programId }) => this.deploy(programId, 500))
  }

  deploy(programId: Address, slot: number, elf?: Uint8Array): void {
    const put = (account: Omit<OnChainAccount, "slot">) => void this.accounts.set(account.address, { ...account, slot })
    deployProgram({ bank: { put }, derive }, programId, slot, elf)
  }

  readonly #read = (address: Address, slice?: DataSlice): OnChainAccount | null => {
    const account = this.accounts.get(address) ?? null
    return account === null || slice === undefined
      ? account
      : { ...account, data: account.data.subarray(slice.offset, slice.offset + slice.length) }
  }

  readonly feed: Layer.Layer<ChainFeed> = Layer.sync(ChainFeed, () =>
    ChainFeed.of({
      accountsOf: () => Effect.die("no account is searched"),
      read: (addresses, slice) =>
        Effect.suspend(() => {
          if (this.isBroken) {
            return Effect.die(new Error("defect"))
          }
          this.slices.push(slice)
          return this.isAway
            ? Effect.fail(new ChainUnavailable({ reason: "timeout", detail: "away" }))
            : Effect.succeed({
                slot: this.slot,
                accounts: new Map(addresses.map((address) => [address, this.#read(address, slice)]))
              })
        }),
      watch: () => Effect.void,
      unwatch: () => Effect.void,
      events: Stream.never,
      freshness: () => ({ slot: this.slot, heardAtMs: 0, state: this.state }),
      clock: () => ({ slot: this.slot, epoch: 0, unixTimestamp: 0 }),
      commitment: "confirmed"
    })
  )

  /** Adds accounts as given, and the clock. */
  put(accounts: Iterable<OnChainAccount>): void {
    const clock = new Uint8Array(40)
    new DataView(clock.buffer).setBigUint64(0, BigInt(this.slot), true)
    const sysvar = { address: CLOCK, owner: CLOCK, lamports: 1n, data: clock, slot: this.slot }
    for (const account of [...accounts, sysvar]) {
      this.accounts.set(account.address, account)
    }
  }

  /** A watch of the programs, as in a process that starts. */
  watch(env: Record<string, string> = {}) {
    const history = TransactionHistory.of({
      genesis: Effect.succeed("genesis"),
      list: () => Effect.succeed([]),
      read: () => Effect.succeed(null)
    })
    return ProgramWatch.layer.pipe(
      Layer.provideMerge([
        this.feed,
        MemoryProofs.layer(this.proofs),
        Layer.succeed(TransactionHistory, history),
        SourceMonitor.layer,
        Readings.layer
      ]),
      Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
    )
  }
}
