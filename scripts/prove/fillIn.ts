/** Completes a recorded pool with the accounts that its swaps need and its price does not. */
import { createHash } from "node:crypto"
import type { OnChainAccount } from "../../src/domain/OnChainAccount.ts"
import { addressToBytes, type Mint } from "../../src/domain/Address.ts"
import { plainMint, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../src/programs/layout/tokenAccount.ts"
import { readAddress } from "../../src/programs/layout/bytes.ts"
import { dammV2At } from "../../src/programs/meteora/dammV2State.ts"
import { dlmmPairAt } from "../../src/programs/meteora/dlmmPair.ts"
import {
  bitmapExtensionAddress,
  bitmapExtensionOffsets,
  BITMAP_EXTENSION_DISCRIMINATOR,
  BITMAP_EXTENSION_SIZE,
  clmmPoolOffsets
} from "../../src/programs/raydium/clmmLayout.ts"
import { cpmmOffsets } from "../../src/programs/raydium/cpmmLayout.ts"
import { coinOf, derive, standIns } from "../../src/quotes/execution/decodeFixture.ts"
import { discriminator, makeAccount } from "../../src/quotes/execution/makeAccount.ts"
import type { Fixture } from "../../src/quotes/execution/poolFixture.ts"
import type { PoolSnapshot } from "../../src/quotes/execution/poolSnapshot.ts"
import { holding } from "../../src/quotes/execution/traderAccounts.ts"
import type { Sides, Site, Venue } from "../../src/quotes/execution/swapVenue.ts"

/** Units in a vault that a recording leaves out. Such a pool's price does not depend on its vaults. */
const PLENTY = 10n ** 18n

const anchorAccount = (name: string): Uint8Array =>
  createHash("sha256").update(`account:${name}`).digest().subarray(0, 8)

/** Which of a pool's mints belong to Token-2022, where the pool account says it. */
const token2022At: Readonly<Record<string, (data: Uint8Array) => readonly [boolean, boolean]>> = {
  "meteora-damm-v2": (data) => [data[dammV2At.tokenFlagA] === 1, data[dammV2At.tokenFlagB] === 1],
  "meteora-dlmm": (data) => [data[dlmmPairAt.tokenFlagX] === 1, data[dlmmPairAt.tokenFlagY] === 1],
  "raydium-cpmm": (data) => [
    readAddress(data, cpmmOffsets.tokenPrograms[0]) === TOKEN_2022_PROGRAM,
    readAddress(data, cpmmOffsets.tokenPrograms[1]) === TOKEN_2022_PROGRAM
  ]
}

/** Records of past prices, which swaps write and prices do not read: an empty one for each program. */
const records: Readonly<Record<string, (pool: OnChainAccount) => ReadonlyArray<OnChainAccount>>> = {
  "raydium-cpmm": (pool) => [
    makeAccount(readAddress(pool.data, cpmmOffsets.observation), pool.owner, 4075, [
      [0, anchorAccount("ObservationState")],
      [11, addressToBytes(pool.address)]
    ])
  ],
  "raydium-clmm": (pool) => [
    makeAccount(readAddress(pool.data, clmmPoolOffsets.observation), pool.owner, 4483, [
      [0, anchorAccount("ObservationState")],
      [8, 1n, 1],
      [19, addressToBytes(pool.address)]
    ]),
    makeAccount(bitmapExtensionAddress(derive, pool.address), pool.owner, BITMAP_EXTENSION_SIZE, [
      [0, discriminator(BITMAP_EXTENSION_DISCRIMINATOR)],
      [bitmapExtensionOffsets.pool, addressToBytes(pool.address)]
    ])
  ]
}

const add = (accounts: Map<string, OnChainAccount>, account: OnChainAccount): void => {
  if (!accounts.has(account.address)) {
    accounts.set(account.address, account)
  }
}

/** Programs whose prices follow the balances of their vaults. */
const pricedByVaults: ReadonlySet<string> = new Set(["raydium-amm-v4", "raydium-cpmm", "pumpswap"])

const addMint = (accounts: Map<string, OnChainAccount>, mint: Mint, is2022: boolean): OnChainAccount => {
  const account = accounts.get(mint) ?? { ...plainMint(mint), owner: is2022 ? TOKEN_2022_PROGRAM : TOKEN_PROGRAM }
  accounts.set(mint, account)
  return account
}

/** The pool of a fixture with every account that a swap in it names. */
export const fillIn = (venue: Venue, pool: OnChainAccount, fixture: Fixture): PoolSnapshot => {
  const { dex } = venue.program
  const accounts = new Map(fixture.accounts)
  standIns(fixture.accounts).forEach((account) => add(accounts, account))
  records[dex]?.(pool).forEach((account) => add(accounts, account))
  const foundBy = coinOf(
    venue.program,
    pool,
    [...accounts.values()].map(({ address }) => address)
  )
  const site: Site = { pool, accounts: (address) => accounts.get(address) ?? null, derive, foundBy }
  const sides: Sides | null = venue.sides(site)
  if (sides !== null) {
    const [isA2022, isB2022] = token2022At[dex]?.(pool.data) ?? [false, false]
    const owner = venue.vaultOwner(site)
    const mintA = addMint(accounts, sides.mintA, isA2022)
    const mintB = addMint(accounts, sides.mintB, isB2022)
    for (const [mint, vault] of [
      [mintA, sides.vaultA],
      [mintB, sides.vaultB]
    ] as const) {
      // Recorded vaults may hold less than the pool believes. A curve that holds lamports is its own vault.
      const isKept = vault === pool.address || pricedByVaults.has(dex) || venue.program.isExecuted === true
      if (!accounts.has(vault) || !isKept) {
        accounts.set(vault, holding(vault, owner, mint, PLENTY))
      }
    }
  }
  return { pool, accounts, clock: fixture.clockOf({}), foundBy }
}
