/** Accounts for tests, as bytes in the layouts of the programs. */
import {
  isUnpriceable,
  type Accounts,
  type Pool,
  type Swap,
  type Unpriceable
} from "../../src/programs/interface/Program.ts"
import { TOKEN_2022_PROGRAM } from "../../src/programs/layout/tokenAccount.ts"
import type { OnChainAccount, ChainClock } from "../../src/domain/OnChainAccount.ts"
import { addressFromBytes, type Address, type Mint } from "../../src/domain/Address.ts"
import { makeDeriveAddress } from "../../src/chain/programAddress.ts"
import { makeAccount } from "../../src/quotes/execution/makeAccount.ts"

export const derive = makeDeriveAddress()

/** The nth made-up address. */
export const at = (n: number): Address => addressFromBytes(new Uint8Array(32).fill(n))

export const clock: ChainClock = { slot: 1, epoch: 700, unixTimestamp: 1_800_000_000 }

/** Only these accounts have been read. */
export const reading = (...accounts: ReadonlyArray<OnChainAccount>): Accounts => {
  const read = new Map(accounts.map((account) => [account.address, account]))
  return (address) => read.get(address)
}

/** The pool. The test fails with the reason when there is none. */
export const priced = (decoded: Pool | Unpriceable): Pool => {
  if (isUnpriceable(decoded)) {
    throw new Error(`${decoded.reason}: ${decoded.detail}`)
  }
  return decoded
}

/** The reason why there is no pool. The test fails when there is one. */
export const failing = (decoded: Pool | Unpriceable): Unpriceable => {
  if (!isUnpriceable(decoded)) {
    throw new Error("the pool is priced")
  }
  return decoded
}

export const filled = (amountIn: bigint, amountOut: bigint): Swap => ({ ending: "filled", amountIn, amountOut })

/** A transfer fee as Token-2022 lays it out: epoch, most units of one transfer, basis points. */
export type Fee = readonly [epoch: bigint, maximum: bigint, bps: bigint]

/** A Token-2022 mint with one extension before its transfer fee, as with mints that have metadata. */
export const mintWithFee = (address: Mint, older: Fee, newer: Fee): OnChainAccount =>
  makeAccount(address, TOKEN_2022_PROGRAM, 166 + 4 + 64 + 4 + 108, [
    [36, 1_000_000_000n],
    [44, 6n, 1],
    [45, 1n, 1],
    [165, 1n, 1],
    // MetadataPointer, 64 bytes.
    [166, 18n, 2],
    [168, 64n, 2],
    // TransferFeeConfig, 108 bytes.
    [234, 1n, 2],
    [236, 108n, 2],
    ...[older, newer].flatMap(
      ([epoch, maximum, bps], i) =>
        [
          [238 + 72 + 18 * i, epoch],
          [246 + 72 + 18 * i, maximum],
          [254 + 72 + 18 * i, bps, 2]
        ] as const
    )
  ])
