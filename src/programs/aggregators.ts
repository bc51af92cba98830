/**
 * Programs that route a swap through pools of other programs: aggregators, and the routers of wallets and terminals.
 * Each address is confirmed by at least two public sources, among them defillama's adapters and the programs' own
 * repositories.
 */
import { Address } from "../domain/Address.ts"
import { JUPITER_ORDER_ENGINE, JUPITER_RFQ_DEX } from "./jupiter/orderEngine.ts"
import { PERPETUALS_PROGRAM } from "./jupiter/perpetuals.ts"
import { jupiterPrograms } from "./jupiter/route.ts"

/**
 * The aggregator's label by program. An instruction of one of these programs is a swap, even if its pools are not
 * decoded.
 */
export const aggregatorOf: ReadonlyMap<Address, string> = new Map([
  ...Array.from(jupiterPrograms, (program) => [program, "jupiter"] as const),
  [JUPITER_ORDER_ENGINE, JUPITER_RFQ_DEX],
  [Address.make("DF1ow4tspfHX9JwWJsAb9epbkA8hmpSEAtxXy1V27QBH"), "dflow"],
  [Address.make("6m2CDdhRgxpH4WjvdzxAYbGxwdGUz5MziiL5jek2kBma"), "okx"],
  [Address.make("proVF4pMXVaYqmy4NjniPh4pqKNfMmsihgd4wdkCX3u"), "okx"],
  [Address.make("T1TANpTeScyeqVzzgNViGDNrkQ6qHz9KrSBS4aNXvGT"), "titan"],
  [Address.make("FLASHX8DrLbgeR8FcfNV1F5krxYcYMUdBkrP1EPBtxB9"), "axiom"],
  [Address.make("BSfD6SHZigAfDWSjzD5Q41jw8LmKwtmjskPH9XW1mrRW"), "photon"],
  [Address.make("B3111yJCeHBcA1bizdJjUFPALfhAfSRnAbJzGUtnt56A"), "binance-wallet"]
])

/**
 * Lending programs: Kamino Lend, marginfi and Save, and Jupiter Perpetuals, where the collateral of a position may
 * come back as another mint. When collateral goes in and a loan comes out, one mint is given and another received,
 * but that is no trade.
 */
export const lendingPrograms: ReadonlySet<Address> = new Set([
  Address.make("KLend2g3cP87fffoy8q1mQqGKjrxjC8boSyAYavgmjD"),
  Address.make("MFv2hWf31Z9kbCa1snEPYctwafyhdvnV7FZnsebVacA"),
  Address.make("So1endDq2YkqhipRh3WViPa8hdiSpxWy6z3Z6tMCpAo"),
  PERPETUALS_PROGRAM
])

/** Accounts that receive tips for Jito's block engine. */
export const tipAccounts: ReadonlySet<Address> = new Set([
  Address.make("96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5"),
  Address.make("HFqU5x63VTqvQss8hp11i4wVV8bD44PvwucfZ2bU7gRe"),
  Address.make("Cw8CFyM9FkoMi7K7Crf6HNQqf4uEMzpKw6QNghXLvLkY"),
  Address.make("ADaUMid9yfUytqMBgopwjb2DTLSokTSzL1zt6iGPaS49"),
  Address.make("DfXygSm4jCyNCybVYYK6DwvWqjKee8pbDmJGcLWNDXjh"),
  Address.make("ADuUkR4vqLUMWXxW9gh6D6L8pMSawimctcNZ5pGwDcEt"),
  Address.make("DttWaMuVvTiduZRnguLF7jNxTgiMBZ1hyAumKUiL2KRL"),
  Address.make("3AVi9Tg9Uo68tJfuvoKvqKNWKkC5wPdSSdeBnizKZ6jT")
])
