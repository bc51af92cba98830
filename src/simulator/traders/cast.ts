/** Who trades in the simulated market, and what they have to trade with. */
import { type Address, type Mint, SOL, USDC } from "../../domain/Address.ts"
import { inventWallet, SYSTEM_PROGRAM } from "../chain/addresses.ts"
import type { World } from "../chain/World.ts"

/** A wallet with a name, so that a reader of the tape can tell who is who. */
export interface SimWallet {
  readonly label: string
  readonly address: Address
}

/** Who trades. */
export interface Cast {
  readonly retail: ReadonlyArray<Address>
  readonly whales: ReadonlyArray<Address>
  readonly arbitrageurs: ReadonlyArray<Address>
  /** They buy every launch at once, and sell it at a gain. */
  readonly snipers: ReadonlyArray<Address>
  /** Each goes in and out of one coin. */
  readonly scalpers: ReadonlyArray<Address>
  /** They buy and never sell. */
  readonly holders: ReadonlyArray<Address>
  /** Tops up the wallets that have run dry. */
  readonly treasury: Address
  /** Earns the transaction fees. */
  readonly validator: Address
}

const COUNTS = { retail: 120, whale: 6, arbitrageur: 4, sniper: 4, scalper: 3, holder: 3 }

/** The wallets of this seed. */
export const castOf = (seed: string): { readonly cast: Cast; readonly wallets: ReadonlyArray<SimWallet> } => {
  const named = (label: string): SimWallet => ({ label, address: inventWallet(seed, label) })
  const several = (kind: keyof typeof COUNTS) =>
    Array.from({ length: COUNTS[kind] }, (_, index) => named(`${kind} ${index + 1}`))
  const addresses = (wallets: ReadonlyArray<SimWallet>) => wallets.map(({ address }) => address)
  const [retail, whales, arbitrageurs] = [several("retail"), several("whale"), several("arbitrageur")]
  const [snipers, scalpers, holders] = [several("sniper"), several("scalper"), several("holder")]
  const [treasury, validator] = [named("treasury"), named("validator")]
  return {
    cast: {
      retail: addresses(retail),
      whales: addresses(whales),
      arbitrageurs: addresses(arbitrageurs),
      snipers: addresses(snipers),
      scalpers: addresses(scalpers),
      holders: addresses(holders),
      treasury: treasury.address,
      validator: validator.address
    },
    wallets: [...retail, ...whales, ...arbitrageurs, ...snipers, ...scalpers, ...holders, treasury, validator]
  }
}

const fund = (world: World, wallet: Address, mint: Mint, amount: bigint): void =>
  world.issue(world.purse(wallet, mint), mint, amount)

const WHOLE_SOL = 1_000_000_000n
const WHOLE_USDC = 1_000_000n

/** Opens every wallet with its first SOL and USDC. */
export const fundCast = (world: World, cast: Cast): void => {
  const { retail, whales, arbitrageurs, snipers, scalpers, holders, treasury, validator } = cast
  const give = (wallets: ReadonlyArray<Address>, sol: bigint, usdc: bigint): void => {
    for (const wallet of wallets) {
      world.newAccount(wallet, SYSTEM_PROGRAM, new Uint8Array(0))
      world.issue(wallet, SOL, sol * WHOLE_SOL)
      fund(world, wallet, USDC, usdc * WHOLE_USDC)
    }
  }
  give([treasury], 40_000_000n, 20_000_000_000n)
  give([validator], 1n, 0n)
  give(arbitrageurs, 60_000n, 9_000_000n)
  give(whales, 20_000n, 3_000_000n)
  give([...snipers, ...scalpers, ...holders], 2_000n, 0n)
  give(retail, 250n, 30_000n)
}

/** Hands a coin's supply outside of pools around. Arbitrageurs get none: they never keep any. */
export const distribute = (world: World, { retail, whales, treasury }: Cast, mint: Mint, amount: bigint): void => {
  const share = (part: bigint, wallets: ReadonlyArray<Address>): void =>
    wallets.forEach((wallet) => fund(world, wallet, mint, part / BigInt(wallets.length)))
  share(amount / 4n, retail)
  share(amount / 10n, whales)
  share(amount / 2n, [treasury])
}
