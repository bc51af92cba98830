/**
 * Vectors of the PumpSwap SDK: reserves and flags in, amounts out. Each becomes real accounts, which are decoded as
 * usual.
 */
import type { Pool, Unpriceable } from "../../src/programs/interface/Program.ts"
import { plainMint } from "../../src/programs/layout/tokenAccount.ts"
import { pumpSwap } from "../../src/programs/pump/pumpSwap.ts"
import type { OnChainAccount } from "../../src/domain/OnChainAccount.ts"
import { Address, addressToBytes, SOL } from "../../src/domain/Address.ts"
import { addressOf, bigintOf, type Entry, type Fixture } from "../../src/quotes/execution/poolFixture.ts"
import { discriminator, type Field, makeAccount, tokenAccount } from "../../src/quotes/execution/makeAccount.ts"
import { agrees, type CaseFormat } from "../../src/quotes/execution/caseFormat.ts"
import { derive, lookup } from "../../src/quotes/execution/decodeFixture.ts"

const PUMP = Address.make("6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P")
const POOL = Address.make("Poo1111111111111111111111111111111111111111")
const BASE_MINT = Address.make("BaseMint11111111111111111111111111111111111")
const BASE_VAULT = Address.make("BaseVau1t1111111111111111111111111111111111")
const QUOTE_VAULT = Address.make("QuoteVau1t111111111111111111111111111111111")
const CREATOR = Address.make("Somebody11111111111111111111111111111111111")
const LENGTH = 300

const poolAuthority = derive(PUMP, [new TextEncoder().encode("pool-authority"), addressToBytes(BASE_MINT)])

const flag = (entry: Entry, field: string): bigint => (entry[field] === true ? 1n : 0n)

const poolOf = (entry: Entry): OnChainAccount => {
  const quoteMint = addressOf(entry, "quoteMint") ?? SOL
  const fields: ReadonlyArray<Field> = [
    [0, discriminator("f19a6d0411b16dbc")],
    [11, addressToBytes(entry["canonicalPumpPool"] === true ? poolAuthority : CREATOR)],
    [43, addressToBytes(BASE_MINT)],
    [75, addressToBytes(quoteMint)],
    [139, addressToBytes(BASE_VAULT)],
    [171, addressToBytes(QUOTE_VAULT)],
    ...(entry["coinCreatorSet"] === true ? [[211, addressToBytes(CREATOR)] as const] : []),
    [243, flag(entry, "isMayhemMode"), 1],
    [245, bigintOf(entry, "virtualQuoteReserves") ?? 0n, 16],
    [261, bigintOf(entry, "creatorFeeBps") ?? 0n]
  ]
  return makeAccount(POOL, pumpSwap.programId, LENGTH, fields)
}

const decode = (fixture: Fixture, entry: Entry): Pool | Unpriceable => {
  const quoteMint = addressOf(entry, "quoteMint") ?? SOL
  const accounts = [
    plainMint(BASE_MINT, bigintOf(entry, "baseMintSupply")),
    tokenAccount(BASE_VAULT, BASE_MINT, bigintOf(entry, "baseReserve") ?? 0n),
    tokenAccount(QUOTE_VAULT, quoteMint, bigintOf(entry, "quoteReserve") ?? 0n)
  ]
  const given = new Map([...fixture.accounts, ...accounts.map((account) => [account.address, account] as const)])
  return pumpSwap.decode(poolOf(entry), lookup(given, new Set([quoteMint])), derive)
}

const trade = (entry: Entry): Entry => {
  switch (entry["fn"]) {
    case "buyQuoteInput":
      return { aToB: false, amountIn: entry["quoteIn"], expectedOut: entry["expectedBaseOut"] }
    case "sellBaseInput":
      return { aToB: true, amountIn: entry["baseIn"], expectedOut: entry["expectedQuoteOut"] }
    case "buyBaseInput":
      return {
        kind: "exactOut",
        aToB: false,
        amountOut: entry["baseOut"] ?? entry["base"],
        expectedIn: entry["expectedQuoteIn"] ?? entry["expectedQuote"]
      }
    default:
      return {}
  }
}

export const pumpSwapVectors: CaseFormat = {
  describes: (entry) => typeof entry["fn"] === "string" && "baseReserve" in entry,
  decode,
  trade,
  agrees: (entry, swap) => agrees(trade(entry), swap)
}
