/**
 * Wallets that keep a coin in several token accounts. They open a second and a third account, move units between
 * them, trade from a different account than last time, and close an account that is empty. About every half minute
 * one of them does one of these.
 */
import type { Address, Mint } from "../../domain/Address.ts"
import type { Deed } from "../chain/Ledger.ts"
import { balanceOf, transferFeeOf } from "../chain/tokens.ts"
import { transferDeed } from "../chain/transactions.ts"
import type { World } from "../chain/World.ts"
import type { Cast } from "./cast.ts"
import type { Random } from "../chain/Random.ts"
import type { Listing } from "./retail.ts"

/** One wallet acts in this many slots. */
const ACT_EVERY = 75
const MOST_ACCOUNTS = 3

/** Every eighth retail wallet. */
export const splitWallets = ({ retail }: Pick<Cast, "retail">): ReadonlyArray<Address> =>
  retail.filter((_, index) => index % 8 === 3)

/** Returns a function that makes the actions of `slots` slots and returns their transactions. */
export const makeOwnAccounts = (options: {
  readonly world: World
  readonly random: Random
  readonly cast: Cast
}): ((listings: ReadonlyArray<Listing>, slots: number) => ReadonlyArray<Deed>) => {
  const { cast, random, world } = options
  const wallets = splitWallets(cast)

  const accountsOf = (wallet: Address, mint: Mint): ReadonlyArray<Address> =>
    world.accountsOf(wallet, mint).filter((address) => world.bank.get(address) !== undefined)

  const unitsIn = (account: Address): bigint => balanceOf(world.bank.must(account))

  /** Moves some units from one account to another. */
  const move = (from: Address, to: Address, mint: Mint, amount: bigint): void => {
    if (amount > 0n) {
      world.pay(from, to, mint, amount)
    }
  }

  const act = (wallet: Address, mint: Mint): Deed | null => {
    const accounts = accountsOf(wallet, mint)
    const purse = world.purseAddress(wallet, mint)
    const others = accounts.filter((account) => account !== purse)
    const parties = { wallet, validator: cast.validator }
    const roll = random.unit()
    world.takeTrace()
    if (others.length === 0 || (accounts.length < MOST_ACCOUNTS && roll < 0.2)) {
      const amount = unitsIn(purse) / 3n
      move(purse, world.openFurther(wallet, mint), mint, amount)
      return transferDeed(world, parties)
    }
    const other = random.pick(others)
    if (roll < 0.5) {
      world.useAccount(wallet, mint, other)
      return null
    }
    if (roll < 0.75) {
      const [from, to] = unitsIn(other) > unitsIn(purse) ? [other, purse] : [purse, other]
      move(from, to, mint, unitsIn(from) / 2n)
      return transferDeed(world, parties)
    }
    move(other, purse, mint, unitsIn(other))
    // The program does not close an account with withheld fees.
    return transferDeed(world, parties, transferFeeOf(world.bank.must(mint)) === null ? [other] : [])
  }

  return (listings, slots) => {
    if (wallets.length === 0 || !random.chance(slots / ACT_EVERY)) {
      return []
    }
    const wallet = random.pick(wallets)
    const held = listings.filter(({ mint }) => accountsOf(wallet, mint).some((account) => unitsIn(account) > 100n))
    const deed = held.length === 0 ? null : act(wallet, random.pick(held).mint)
    return deed === null ? [] : [deed]
  }
}
