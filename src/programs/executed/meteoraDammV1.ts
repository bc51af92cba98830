/**
 * Pools of Meteora's DAMM v1. They keep their tokens in vaults that other pools share and that lend tokens out, so a
 * swap runs the vaults' program too. Layouts: MeteoraAg/damm-v1-sdk, programs/dynamic-amm/src/state.rs and the IDL of
 * dynamic-vault.
 */
import { Address, addressToBytes } from "../../domain/Address.ts"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { Accounts, Program } from "../interface/Program.ts"
import { ANCHOR_POOL, tagAt, tagOf } from "../layout/anchor.ts"
import { readAddress } from "../layout/bytes.ts"
import { closed, malformed } from "../layout/unpriceable.ts"
import { pricedByExecution } from "./pricedByExecution.ts"

const PROGRAM = Address.make("Eo7WjKq67rjJQSZxS6z3YkapzY3eMj6Xy8X5EQVn5UaB")
/** The program of the vaults. */
export const VAULT_PROGRAM = Address.make("24Uqj9JCLxUeoC3hGfh5W3s9FM9uCHDS2SG3LYwBpyTi")

const POOL = tagOf(ANCHOR_POOL)

/** Offsets in a pool account. */
const poolAt = {
  mintA: 40,
  mintB: 72,
  vaultA: 104,
  vaultB: 136,
  vaultLpA: 168,
  vaultLpB: 200,
  enabled: 233,
  feeA: 234,
  feeB: 266,
  stake: 363,
  curve: 874,
  depeg: 916
}
/** Offsets in a vault account. */
const vaultAt = { tokens: 19, lpMint: 115 }
const POOL_SIZE = 917
const VAULT_SIZE = 147

const STABLE = 1
const MARINADE = Address.make("8szGkuLTAux9XMgZ2vtY39jVSowEcpBfFfD8hXSEqdGC")
const LIDO = Address.make("49Yi1TKkNyYjPAFdR9LBvoHcUjuPX4Df5T5yv39w2XTn")

/** The state that says what a staked token is worth, for a stable pool with one. */
const stakeOf = ({ data }: OnChainAccount): Address | null => {
  if (data[poolAt.curve] !== STABLE) {
    return null
  }
  return [null, MARINADE, LIDO, readAddress(data, poolAt.stake)][data[poolAt.depeg] ?? 0] ?? null
}

/** The accounts of a vault. */
interface VaultAccounts {
  readonly vault: Address
  readonly tokens: Address
  readonly lpMint: Address
  /** The pool's share of the vault. */
  readonly lp: Address
  /** Where the protocol's part of a fee goes. */
  readonly fee: Address
}

/** The accounts of a pool. */
export interface DammV1Accounts {
  readonly mintA: Address
  readonly mintB: Address
  readonly a: VaultAccounts
  readonly b: VaultAccounts
  readonly stake: Address | null
}

const vaultOf = (
  { data }: OnChainAccount,
  accounts: Accounts,
  at: { readonly vault: number; readonly lp: number; readonly fee: number }
): VaultAccounts | null => {
  const vault = readAddress(data, at.vault)
  const state = accounts(vault)
  return !state || state.data.length < VAULT_SIZE
    ? null
    : {
        vault,
        tokens: readAddress(state.data, vaultAt.tokens),
        lpMint: readAddress(state.data, vaultAt.lpMint),
        lp: readAddress(data, at.lp),
        fee: readAddress(data, at.fee)
      }
}

/** The accounts of a pool; null while one of its two vaults has not been read. */
export const dammV1Accounts = (pool: OnChainAccount, accounts: Accounts): DammV1Accounts | null => {
  const a = vaultOf(pool, accounts, { vault: poolAt.vaultA, lp: poolAt.vaultLpA, fee: poolAt.feeA })
  const b = vaultOf(pool, accounts, { vault: poolAt.vaultB, lp: poolAt.vaultLpB, fee: poolAt.feeB })
  return a === null || b === null
    ? null
    : {
        mintA: readAddress(pool.data, poolAt.mintA),
        mintB: readAddress(pool.data, poolAt.mintB),
        a,
        b,
        stake: stakeOf(pool)
      }
}

const isPool = ({ data, owner }: OnChainAccount): boolean =>
  owner === PROGRAM && data.length >= POOL_SIZE && tagAt(data, 0) === POOL

export const meteoraDammV1: Program = {
  dex: "meteora-damm-v1",
  programId: PROGRAM,
  isExecuted: true,
  poolsOf: (mint) =>
    [poolAt.mintA, poolAt.mintB].map((offset) => ({ matches: [{ offset, bytes: addressToBytes(mint) }] })),
  isPool,
  needs: (pool, accounts) => {
    const { data } = pool
    const stake = stakeOf(pool)
    const named = [
      poolAt.mintA,
      poolAt.mintB,
      poolAt.vaultA,
      poolAt.vaultB,
      poolAt.vaultLpA,
      poolAt.vaultLpB,
      poolAt.feeA,
      poolAt.feeB
    ]
    const inVaults = [poolAt.vaultA, poolAt.vaultB].flatMap((at) => {
      const vault = accounts(readAddress(data, at))
      return vault && vault.data.length >= VAULT_SIZE
        ? [readAddress(vault.data, vaultAt.tokens), readAddress(vault.data, vaultAt.lpMint)]
        : []
    })
    return [...named.map((at) => readAddress(data, at)), ...inVaults, ...(stake === null ? [] : [stake])]
  },
  decode: (pool) => {
    if (!isPool(pool)) {
      return malformed("the account is not a pool")
    }
    const mints = [readAddress(pool.data, poolAt.mintA), readAddress(pool.data, poolAt.mintB)] as const
    return pool.data[poolAt.enabled] === 1 ? pricedByExecution(mints) : { ...closed("the pool is disabled"), mints }
  }
}
