import { associatedAddress, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../programs/layout/tokenAccount.ts"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import { makeDeriveAddress } from "../../chain/programAddress.ts"
import { inventAddress, seededAddress, SYSTEM_PROGRAM } from "./addresses.ts"
import type { Bank } from "./Bank.ts"
import { type LookupTables, makeLookupTables } from "../../programs/transactions/message.ts"
import { METAPLEX_PROGRAM, metaplexData, metaplexSeeds } from "./metadata.ts"
import {
  balanceOf,
  type MintSpec,
  type NewAccount,
  newMint,
  newTokenAccount,
  rentExempt,
  transferFeeOf,
  withBalance,
  withheldOf,
  withSupply
} from "./tokens.ts"

/** A bank where money moves by the rules of the token programs, so supplies are conserved. */
export interface World {
  readonly seed: string
  readonly bank: Bank
  readonly derive: ReturnType<typeof makeDeriveAddress>
  /** Creates a mint without supply. Also creates its Metaplex account, unless the mint itself holds the name. */
  readonly newMint: (spec: MintSpec) => void
  /** Creates an empty token account at this address. */
  readonly newTokenAccount: (address: Address, mint: Mint, owner: Address) => void
  /** Creates an account owned by this program, rent exempt. */
  readonly newAccount: (address: Address, owner: Address, data: Uint8Array) => void
  /**
   * Makes this wallet pay the rent of the accounts that `create` creates. Only accounts of the first slot are created
   * without a payer.
   */
  readonly paidBy: <A>(wallet: Address, create: () => A) => A
  /** Creates new money in a token account or, for SOL, in any account. After the first slot only launches use it. */
  readonly issue: (to: Address, mint: Mint, amount: bigint) => void
  /** Destroys tokens of an account. */
  readonly burn: (from: Address, mint: Mint, amount: bigint) => void
  /** Payments and account creations since the previous call, in order. */
  readonly takeTrace: () => ReadonlyArray<Happening>
  /** Moves money. SOL moves as lamports and is wrapped on each side that is a token account. */
  readonly pay: (from: Address, to: Address, mint: Mint, amount: bigint) => void
  /** The account where a wallet wraps SOL during a transaction: a seeded or the associated one. */
  readonly wrapped: (wallet: Address, kind: "seeded" | "associated") => Address
  readonly tables: LookupTables
  /** A counter from 0, for choices that are made in turn instead of at random. */
  readonly nextTurn: () => number
  /** The address that `purse` would return, whether or not the account exists. */
  readonly purseAddress: (wallet: Address, mint: Mint) => Address
  /**
   * The account where a wallet keeps a mint: the wallet itself for SOL, otherwise a token account, which is created
   * when needed. The wallet pays its rent unless another payer is named.
   */
  readonly purse: (wallet: Address, mint: Mint, payer?: Address) => Address
  /** Creates an additional token account for a wallet and returns its address. */
  readonly openFurther: (wallet: Address, mint: Mint) => Address
  /** All addresses where the wallet has or had token accounts of a mint, including its `purse`. */
  readonly accountsOf: (wallet: Address, mint: Mint) => ReadonlyArray<Address>
  /** Makes another token account of the wallet its purse. */
  readonly useAccount: (wallet: Address, mint: Mint, account: Address) => void
  /** Closes an empty token account. The rent goes to the owner. */
  readonly close: (account: Address, owner: Address) => void
  /** How much of a mint is in the wallet's purse. */
  readonly holding: (wallet: Address, mint: Mint) => bigint
}

/** Something that a transaction did to accounts. */
export type Happening =
  | {
      readonly kind: "paid"
      readonly from: Address
      readonly to: Address
      readonly mint: Mint
      readonly amount: bigint
    }
  | { readonly kind: "issued"; readonly to: Address; readonly mint: Mint; readonly amount: bigint }
  | { readonly kind: "burnt"; readonly from: Address; readonly mint: Mint; readonly amount: bigint }
  | {
      readonly kind: "purse"
      readonly account: Address
      readonly wallet: Address
      readonly mint: Mint
      readonly payer: Address
    }
  | { readonly kind: "account"; readonly account: Address; readonly owner: Address; readonly size: number }
  | { readonly kind: "token account"; readonly account: Address; readonly mint: Mint; readonly owner: Address }
  | { readonly kind: "mint"; readonly mint: Mint; readonly authority: Address | null; readonly decimals: number }

/** Seed of the accounts where wallets wrap SOL. */
export const WRAPPER_SEED = "wrapped"

/** True for accounts of the token programs, mints included. */
export const isTokenAccount = ({ owner }: OnChainAccount): boolean =>
  owner === TOKEN_PROGRAM || owner === TOKEN_2022_PROGRAM

export const decimalsOf = ({ bank }: World, mint: Mint): number => (mint === SOL ? 9 : (bank.must(mint).data[44] ?? 0))

const withLamports = (account: OnChainAccount, delta: bigint): OnChainAccount => {
  const lamports = account.lamports + delta
  if (lamports < 0n) {
    throw new RangeError(`account ${account.address} would fall below zero lamports`)
  }
  return { ...account, lamports }
}

/** Makes a world without money on a bank. */
export const makeWorld = (seed: string, bank: Bank): World => {
  const purses = new Map<string, Address>()
  const furthers = new Map<string, ReadonlyArray<Address>>()
  const wrappers = new Map<Address, Address>()
  const derive = makeDeriveAddress()
  let turns = 0
  let trace: Array<Happening> = []

  const move = (address: Address, mint: Mint, delta: bigint, withheld = 0n): void => {
    const account = bank.must(address)
    if (mint === SOL && !isTokenAccount(account)) {
      bank.put(withLamports(account, delta))
      return
    }
    bank.put(withBalance(account, delta, withheld))
  }

  let rents = 0n
  const create = (account: NewAccount): void => {
    rents += account.lamports
    bank.put(account)
  }

  const newAccount: World["newAccount"] = (account, owner, data) => {
    trace.push({ kind: "account", account, owner, size: data.length })
    create({ address: account, owner, data, lamports: owner === SYSTEM_PROGRAM ? 0n : rentExempt(data.length) })
  }

  const paidBy: World["paidBy"] = (wallet, make) => {
    const before = rents
    const made = make()
    bank.put(withLamports(bank.must(wallet), before - rents))
    // A payer of something larger does not pay this again.
    rents = before
    return made
  }

  const issue: World["issue"] = (to, mint, amount) => {
    trace.push({ kind: "issued", to, mint, amount })
    move(to, mint, amount)
    if (mint !== SOL) {
      bank.put(withSupply(bank.must(mint), amount))
    }
  }

  const burn: World["burn"] = (from, mint, amount) => {
    trace.push({ kind: "burnt", from, mint, amount })
    move(from, mint, -amount)
    bank.put(withSupply(bank.must(mint), -amount))
  }

  const pay: World["pay"] = (from, to, mint, amount) => {
    const withheld = withheldOf(mint === SOL ? null : transferFeeOf(bank.must(mint)), amount)
    trace.push({ kind: "paid", from, to, mint, amount })
    move(from, mint, -amount)
    move(to, mint, amount - withheld, withheld)
  }

  const purseAddress = (wallet: Address, mint: Mint): Address => {
    if (mint === SOL) {
      return wallet
    }
    const key = `${wallet}:${mint}`
    const known = purses.get(key)
    if (known !== undefined) {
      return known
    }
    const address = inventAddress(seed, `purse ${key}`)
    purses.set(key, address)
    return address
  }

  const wrapped: World["wrapped"] = (wallet, kind) => {
    if (kind === "associated") {
      return associatedAddress(derive, wallet, SOL, TOKEN_PROGRAM)
    }
    const known = wrappers.get(wallet) ?? seededAddress(wallet, WRAPPER_SEED, TOKEN_PROGRAM)
    wrappers.set(wallet, known)
    return known
  }

  const purse: World["purse"] = (wallet, mint, payer = wallet) => {
    const address = purseAddress(wallet, mint)
    if (bank.get(address) === undefined) {
      trace.push({ kind: "purse", account: address, wallet, mint, payer })
      paidBy(payer, () => create(newTokenAccount(address, bank.must(mint), wallet)))
    }
    return address
  }

  const accountsOf: World["accountsOf"] = (wallet, mint) => {
    const further = furthers.get(`${wallet}:${mint}`) ?? []
    const purse = purseAddress(wallet, mint)
    return further.length === 0 ? [purse] : further
  }

  const openFurther: World["openFurther"] = (wallet, mint) => {
    const accounts = accountsOf(wallet, mint)
    const address = inventAddress(seed, `purse ${wallet}:${mint} ${accounts.length}`)
    furthers.set(`${wallet}:${mint}`, [...accounts, address])
    trace.push({ kind: "purse", account: address, wallet, mint, payer: wallet })
    paidBy(wallet, () => create(newTokenAccount(address, bank.must(mint), wallet)))
    return address
  }

  const close: World["close"] = (account, owner) => {
    const { lamports } = bank.must(account)
    bank.remove(account)
    bank.put(withLamports(bank.must(owner), lamports))
  }

  const holding: World["holding"] = (wallet, mint) => {
    const account = bank.get(purseAddress(wallet, mint))
    if (account === undefined) {
      return 0n
    }
    return isTokenAccount(account) ? balanceOf(account) : account.lamports
  }

  return {
    seed,
    bank,
    derive,
    newMint: (spec) => {
      trace.push({ kind: "mint", mint: spec.address, authority: spec.authority, decimals: spec.decimals })
      create(newMint(spec))
      const { address, authority, naming } = spec
      if (naming !== undefined && bank.must(address).owner === TOKEN_PROGRAM) {
        const at = derive(METAPLEX_PROGRAM, metaplexSeeds(address))
        newAccount(at, METAPLEX_PROGRAM, metaplexData(address, naming, authority))
      }
    },
    newTokenAccount: (account, mint, owner) => {
      trace.push({ kind: "token account", account, mint, owner })
      create(newTokenAccount(account, bank.must(mint), owner))
    },
    newAccount,
    takeTrace: () => {
      const taken = trace
      trace = []
      return taken
    },
    purseAddress,
    openFurther,
    accountsOf,
    useAccount: (wallet, mint, account) => void purses.set(`${wallet}:${mint}`, account),
    close,
    wrapped,
    nextTurn: () => turns++,
    tables: makeLookupTables((index) => inventAddress(seed, `lookup table ${index}`)),
    paidBy,
    issue,
    burn,
    pay,
    purse,
    holding
  }
}
