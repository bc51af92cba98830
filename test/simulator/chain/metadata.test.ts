import { assert, describe, it } from "@effect/vitest"
import { makeDeriveAddress } from "../../../src/chain/programAddress.ts"
import { metaplexAddress, readMetaplex } from "../../../src/tokens/metadata.ts"
import { readMintAccount } from "../../../src/tokens/mintAccount.ts"
import { uriOf } from "../../../src/simulator/chain/metadata.ts"
import { newMarket } from "./chains.ts"

const derive = makeDeriveAddress()

describe("the names of simulated mints", () => {
  const { bank, market } = newMarket("names")

  it("are at their addresses on chain for every mint, including launched ones", () => {
    const homes = { mint: 0, metaplex: 0 }
    for (const { address, decimals, name, symbol } of market.mints()) {
      const read = readMintAccount(bank.must(address))
      assert.strictEqual(read._tag, "Mint")
      if (read._tag !== "Mint") {
        continue
      }
      assert.strictEqual(read.decimals, decimals)
      const account = bank.get(metaplexAddress(address, derive))
      assert.strictEqual(account === undefined, read.tokenProgram === "token-2022", symbol)
      const decoded = account === undefined ? read.metadata : readMetaplex(account, address)
      homes[account === undefined ? "mint" : "metaplex"] += 1
      assert.deepInclude(decoded, { name, symbol, uri: uriOf(address) })
      assert.deepInclude(decoded?.origin, {
        source: account === undefined ? "token-2022" : "metaplex",
        isMutable: decoded?.origin?.updateAuthority !== null,
        fields: []
      })
    }
    assert.isAbove(homes.mint, 1)
    assert.isAbove(homes.metaplex, 15)
  })

  it("leave the transfer fee of a mint readable", () => {
    const taxed = market.mints().filter(({ symbol }) => symbol === "TITHE" || symbol === "TOLL")
    assert.lengthOf(taxed, 2)
    for (const { address } of taxed) {
      const read = readMintAccount(bank.must(address))
      assert.deepStrictEqual(read._tag === "Mint" ? read.extensions : [], ["transfer_fee"])
    }
  })
})
