/** Pools of programs that nothing here has code for, with what was learned of their swaps. */
import { Context, Layer } from "effect"
import { Address, type Mint } from "../../domain/Address.ts"
import type { Program } from "../../programs/interface/Program.ts"
import { pricedByExecution } from "../../programs/executed/pricedByExecution.ts"

/** An account of a swap: always the same one, or one of the trader's. */
export type SwapSlot =
  | { readonly constant: Address; readonly isWritable: boolean }
  | { readonly role: "from" | "to" | "trader" }

/** A swap in one direction. */
export interface LearnedDirection {
  readonly slots: ReadonlyArray<SwapSlot>
  /** The instruction's data. The amount and the least output are written into it. */
  readonly data: Uint8Array
  readonly amountAt: number
  /** Offset of the least output, which is sent as zero; null when the data has none. */
  readonly minimumAt: number | null
}

/** What was learned of a pool. */
export interface LearnedPool {
  readonly programId: Address
  readonly pool: Address
  readonly mintA: Mint
  readonly mintB: Mint
  readonly vaultA: Address
  readonly vaultB: Address
  /** Programs that a swap calls, besides those that every runtime has. */
  readonly calls: ReadonlyArray<Address>
  readonly aToB: LearnedDirection | null
  readonly bToA: LearnedDirection | null
}

/** Stands for every learned program where a program id is asked for. */
const LEARNED = Address.make("Learned111111111111111111111111111111111111")

const accountsOf = (learned: LearnedPool): ReadonlyArray<Address> => [
  learned.mintA,
  learned.mintB,
  learned.vaultA,
  learned.vaultB,
  ...[learned.aToB, learned.bToA].flatMap((direction) =>
    (direction?.slots ?? []).flatMap((slot) => ("constant" in slot && slot.isWritable ? slot.constant : []))
  )
]

/** The learned pools of this process. */
export class LearnedPools {
  readonly #pools = new Map<Address, LearnedPool>()
  /** Why a program's pools are not quoted; absent for a proven program. */
  readonly #refused = new Map<Address, string>()

  /** Finds and decodes the learned pools, as other programs do with their pools. */
  readonly program: Program = {
    dex: "learned",
    programId: LEARNED,
    isExecuted: true,
    poolsOf: () => [],
    poolAddressesOf: (mint) =>
      [...this.#pools.values()].flatMap(({ mintA, mintB, pool }) => (mintA === mint || mintB === mint ? pool : [])),
    isPool: ({ address, owner }) => this.#pools.get(address)?.programId === owner,
    needs: ({ address }) => {
      const learned = this.#pools.get(address)
      return learned === undefined ? [] : accountsOf(learned)
    },
    decode: ({ address }) => {
      const learned = this.#pools.get(address)
      return learned === undefined
        ? { reason: "unsupported", detail: "its swaps are not learned" }
        : pricedByExecution([learned.mintA, learned.mintB])
    }
  }

  set(learned: LearnedPool): void {
    this.#pools.set(learned.pool, learned)
  }

  get(pool: Address): LearnedPool | undefined {
    return this.#pools.get(pool)
  }

  /** Sets why the pools of a program are not quoted; null when they are. */
  refuse(programId: Address, detail: string | null): void {
    if (detail === null) {
      this.#refused.delete(programId)
    } else {
      this.#refused.set(programId, detail)
    }
  }

  refusalOf({ programId }: LearnedPool): string | null {
    return this.#refused.get(programId) ?? null
  }
}

/** Without a layer, one set for the process. */
export const Learned = Context.Reference<LearnedPools>("fathom/quotes/LearnedPools", {
  defaultValue: () => new LearnedPools()
})

/** Starts without pools. */
export const layer: Layer.Layer<never> = Layer.sync(Learned, () => new LearnedPools())
