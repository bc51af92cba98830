import { assert, describe, it } from "@effect/vitest"
import { Address, addressToBytes, SOL } from "../../src/domain/Address.ts"
import { findProgramAddress, isOnCurve, makeDeriveAddress } from "../../src/solana/programAddress.ts"

const text = (seed: string) => new TextEncoder().encode(seed)
const RAYDIUM_CLMM = Address.make("CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK")
const RAYDIUM_V4 = Address.make("675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8")

describe("findProgramAddress", () => {
  it("gives Raydium's AMM authority, a published address", () => {
    assert.strictEqual(
      findProgramAddress(RAYDIUM_V4, [text("amm authority")]),
      "5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1"
    )
  })

  it("gives the associated token account of a known owner and mint", () => {
    // Associated token program, seeds owner, token program, mint.
    const token = Address.make("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")
    const associated = Address.make("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")
    const address = findProgramAddress(associated, [
      addressToBytes(RAYDIUM_V4),
      addressToBytes(token),
      addressToBytes(SOL)
    ])
    assert.isFalse(isOnCurve(addressToBytes(address)))
  })

  it("is remembered by makeDeriveAddress without mixing up seeds", () => {
    const derive = makeDeriveAddress()
    const one = derive(RAYDIUM_CLMM, [text("ab"), text("c")])
    assert.strictEqual(derive(RAYDIUM_CLMM, [text("ab"), text("c")]), one)
    assert.strictEqual(one, findProgramAddress(RAYDIUM_CLMM, [text("ab"), text("c")]))
  })
})
