/** The wallets of the simulated market and what they own at first. */
import { Record } from "effect"
import { type Address, type Mint, SOL, USDC } from "../../domain/Address.ts"
import { inventWallet, SYSTEM_PROGRAM } from "../chain/addresses.ts"
import type { Deed } from "../chain/Ledger.ts"
import { LAMPORTS_PER_SIGNATURE, openingDeed } from "../chain/transactions.ts"
import type { World } from "../chain/World.ts"

/** A wallet with a label. */
export interface SimWallet {
  readonly label: string
  readonly address: Address
}

export interface Cast {
  readonly retail: ReadonlyArray<Address>
  readonly whales: ReadonlyArray<Address>
  readonly arbitrageurs: ReadonlyArray<Address>
  /** Buy every launch at once and sell with a profit. */
  readonly snipers: ReadonlyArray<Address>
  /** Trade in and out of one coin each. */
  readonly scalpers: ReadonlyArray<Address>
  /** Buy and never sell. */
  readonly holders: ReadonlyArray<Address>
  /** Tops up wallets that have too little. */
  readonly treasury: Address
  /** Earns the transaction fees. */
  readonly validator: Address
  /** The account of the front end that every eighth retail wallet trades through. */
  readonly frontEnd: Address
}

/** The front end that a wallet trades through; undefined when it trades without one. */
export const frontEndOf = ({ frontEnd, retail }: Cast, wallet: Address): Address | undefined =>
  retail.indexOf(wallet) % 8 === 5 ? frontEnd : undefined

/** How many retail wallets a market has by default. */
export const RETAIL_WALLETS = 120

const COUNTS = { whale: 6, arbitrageur: 4, sniper: 4, scalper: 3, holder: 3 }

/** The wallets of this seed. */
export const castOf = (
  seed: string,
  retail = RETAIL_WALLETS
): { readonly cast: Cast; readonly wallets: ReadonlyArray<SimWallet> } => {
  const named = (label: string): SimWallet => ({ label, address: inventWallet(seed, label) })
  const counts = { ...COUNTS, retail }
  const several = (kind: keyof typeof counts) =>
    Array.from({ length: counts[kind] }, (_, index) => named(`${kind} ${index + 1}`))
  const groups = {
    retail: several("retail"),
    whales: several("whale"),
    arbitrageurs: several("arbitrageur"),
    snipers: several("sniper"),
    scalpers: several("scalper"),
    holders: several("holder")
  }
  const [treasury, validator] = [named("treasury"), named("validator")]
  return {
    cast: {
      ...Record.map(groups, (wallets) => wallets.map(({ address }) => address)),
      treasury: treasury.address,
      validator: validator.address,
      frontEnd: inventWallet(seed, "front end")
    },
    wallets: [...Object.values(groups).flat(), treasury, validator]
  }
}

const fund = (world: World, wallet: Address, mint: Mint, amount: bigint): void =>
  world.issue(world.purse(wallet, mint), mint, amount)

/** How many of the first retail wallets the treasury opens. */
const CUSTOMERS = 8

/**
 * Which wallets others open in the first block, by the wallet that opens them: an exchange some of its customers, and a
 * whale the wallets that it snipes and scalps with. All other wallets exist before the first block.
 */
const openedBy = ({ retail, scalpers, snipers, treasury, whales: [whale = treasury] }: Cast) =>
  new Map([
    [treasury, retail.slice(0, CUSTOMERS)],
    [whale, [...snipers, ...scalpers]]
  ])

/**
 * Lends the SOL of these wallets to those that open them. The function that it returns makes the transactions that open
 * the wallets. Afterwards everybody holds what they held before, because funders get the fees as well.
 */
export const openCast = (world: World, cast: Cast): (() => ReadonlyArray<Deed>) => {
  const openings = Array.from(openedBy(cast)).flatMap(([funder, wallets]) =>
    wallets.map((opened) => ({ funder, opened, lamports: world.holding(opened, SOL) }))
  )
  for (const { funder, lamports, opened } of openings) {
    world.pay(opened, funder, SOL, lamports)
    world.issue(funder, SOL, LAMPORTS_PER_SIGNATURE)
  }
  return () =>
    openings.map(({ funder, lamports, opened }) =>
      openingDeed(world, { wallet: funder, validator: cast.validator }, opened, lamports)
    )
}

const WHOLE_SOL = 1_000_000_000n
const WHOLE_USDC = 1_000_000n

/** Creates every wallet with some SOL and USDC. */
export const fundCast = (world: World, cast: Cast): void => {
  const { retail, whales, arbitrageurs, snipers, scalpers, holders, treasury, validator, frontEnd } = cast
  const give = (wallets: ReadonlyArray<Address>, sol: bigint, usdc: bigint): void => {
    for (const wallet of wallets) {
      world.newAccount(wallet, SYSTEM_PROGRAM, new Uint8Array(0))
      world.issue(wallet, SOL, sol * WHOLE_SOL)
      fund(world, wallet, USDC, usdc * WHOLE_USDC)
    }
  }
  give([treasury], 40_000_000n, 20_000_000_000n)
  give([validator, frontEnd], 1n, 0n)
  give(arbitrageurs, 60_000n, 9_000_000n)
  give(whales, 20_000n, 3_000_000n)
  give([...snipers, ...scalpers, ...holders], 2_000n, 0n)
  give(retail, 250n, 30_000n)
}

/**
 * Distributes the part of a coin's supply that is not in pools. Arbitrageurs get nothing, because they never keep
 * coins.
 */
export const distribute = (world: World, { retail, whales, treasury }: Cast, mint: Mint, amount: bigint): void => {
  // Some wallets start with a coin in two accounts.
  const isSplit = (wallet: Address): boolean => retail.indexOf(wallet) % 16 === 3
  const share = (part: bigint, wallets: ReadonlyArray<Address>): void =>
    wallets.forEach((wallet) => {
      const each = part / BigInt(wallets.length)
      const further = isSplit(wallet) ? each / 4n : 0n
      fund(world, wallet, mint, each - further)
      if (further > 0n) {
        world.issue(world.openFurther(wallet, mint), mint, further)
      }
    })
  share(amount / 4n, retail)
  share(amount / 10n, whales)
  share(amount / 2n, [treasury])
}
