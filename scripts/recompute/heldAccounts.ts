/** Token accounts of wallets over raw blocks, account by account, and as the node lists them. */
import bs58 from "bs58"
import { call } from "./chain.ts"
import type { AccountChange } from "./walletEvents.ts"

/** The units of one token account before the first transaction that names it. */
export type FirstUnits = ReadonlyMap<string, bigint>

/** Accounts by owner and mint. */
export class NamedAccounts {
  readonly #first = new Map<string, Map<string, bigint>>()

  add(wallet: string, mint: string, changes: ReadonlyArray<AccountChange>): void {
    const key = `${wallet} ${mint}`
    const first = this.#first.get(key) ?? new Map<string, bigint>()
    this.#first.set(key, first)
    for (const { address, before } of changes) {
      if (!first.has(address)) {
        first.set(address, before)
      }
    }
  }

  of(wallet: string, mint: string): FirstUnits {
    return this.#first.get(`${wallet} ${mint}`) ?? new Map()
  }
}

/** Units of a token account as the node has them now. */
export interface ListedAccount {
  readonly address: string
  readonly mint: string
  readonly units: bigint
}

const TOKEN_PROGRAMS = ["TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA", "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"]

interface Listed {
  readonly value: ReadonlyArray<{ readonly pubkey: string; readonly account: { readonly data: readonly [string] } }>
}

/** Every token account of a wallet. */
export const listAccounts = async (rpc: string, wallet: string): Promise<ReadonlyArray<ListedAccount>> => {
  const lists = await Promise.all(
    TOKEN_PROGRAMS.map(
      (programId) =>
        call(rpc, "getTokenAccountsByOwner", [wallet, { programId }, { encoding: "base64" }]) as Promise<Listed>
    )
  )
  return lists.flatMap(({ value }) =>
    value.map(({ account, pubkey }) => {
      const data = Buffer.from(account.data[0], "base64")
      return { address: pubkey, mint: bs58.encode(data.subarray(0, 32)), units: data.readBigUInt64LE(64) }
    })
  )
}

const sumOf = (values: Iterable<bigint>): bigint => Array.from(values).reduce((sum, each) => sum + each, 0n)

/** Units before the first event, in the accounts that some transaction names and in the accounts that none names. */
export const firstUnits = (
  first: FirstUnits,
  listed: ReadonlyArray<ListedAccount>,
  mint: string
): Map<string, bigint> =>
  new Map([
    ...listed
      .filter((each) => each.mint === mint && !first.has(each.address))
      .map(({ address, units }) => [address, units] as const),
    ...first
  ])

/** Applies the changes of an event, and returns the sums before and after it. */
export const sumsAround = (units: Map<string, bigint>, changes: ReadonlyArray<AccountChange>) => {
  const before = sumOf(units.values())
  changes.forEach(({ address, after }) => units.set(address, after))
  return { before, after: sumOf(units.values()) }
}
