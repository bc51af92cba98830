import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../src/programs/layout/tokenAccount.ts"
import { Address, USDC } from "../../src/domain/Address.ts"
import { findProgramAddress } from "../../src/chain/programAddress.ts"
import { metaplexAddress, readMetaplex } from "../../src/tokens/metadata.ts"
import { readMintAccount } from "../../src/tokens/mintAccount.ts"
import { at } from "../quotes/toyChain.ts"
import { classicMint, extendedMint, extension, metadataOf, metaplexAccount } from "./mints.ts"

const MINT = at(10)

/** A short Borsh string. */
const text = (value: string) => [value.length, 0, 0, 0, ...new TextEncoder().encode(value)]

describe("readMintAccount", () => {
  it("reads supply, decimals and both authorities", () => {
    const plan = { supply: 2n ** 64n - 1n, decimals: 9, mintAuthority: at(1), freezeAuthority: at(2) }
    assert.deepStrictEqual(readMintAccount(classicMint(MINT, plan)), {
      _tag: "Mint",
      tokenProgram: "spl-token",
      ...plan,
      extensions: [],
      metadata: null
    })
  })

  it("reads revoked authorities as null", () => {
    assert.deepInclude(readMintAccount(classicMint(MINT)), { mintAuthority: null, freezeAuthority: null })
  })

  it("names the extensions that change how the token moves, and skips the others", () => {
    const extensions = [26, 1, 18, 6, 9, 10, 12, 14, 3].map((type) => extension(type, new Uint8Array(type)))
    assert.deepInclude(readMintAccount(extendedMint(MINT, extensions)), {
      tokenProgram: "token-2022",
      extensions: [
        "pausable",
        "transfer_fee",
        "default_account_state",
        "non_transferable",
        "permanent_delegate",
        "transfer_hook"
      ]
    })
  })

  it("reads a Token-2022 mint without extensions", () => {
    const plain = { ...classicMint(MINT), owner: TOKEN_2022_PROGRAM }
    assert.deepInclude(readMintAccount(plain), { tokenProgram: "token-2022", extensions: [] })
  })

  it("stops at the end of the list, whatever follows it", () => {
    const extensions = [extension(1, new Uint8Array(108)), new Uint8Array(4), extension(9, new Uint8Array(0))]
    assert.deepInclude(readMintAccount(extendedMint(MINT, extensions)), { extensions: ["transfer_fee"] })
  })

  it("reads the name that a mint carries itself", () => {
    const carried = extension(19, metadataOf(MINT, "Fern Network", "FERN", "https://example.com"))
    assert.deepInclude(readMintAccount(extendedMint(MINT, [carried])), {
      metadata: {
        name: "Fern Network",
        symbol: "FERN",
        uri: "https://example.com",
        origin: { source: "token-2022", updateAuthority: null, isMutable: false, fields: [] }
      }
    })
  })

  it("reads the further fields that a mint carries, as far as they are whole", () => {
    const value = metadataOf(MINT, "Fern Network", "FERN")
    value.fill(7, 0, 32)
    const fieldsOf = (count: number, ...texts: ReadonlyArray<string>) => {
      const carried = Uint8Array.from([...value.subarray(0, -4), count, 0, 0, 0, ...texts.flatMap(text)])
      const read = readMintAccount(extendedMint(MINT, [extension(19, carried)]))
      return read._tag === "Mint" ? read.metadata?.origin : undefined
    }
    const changes = { source: "token-2022", isMutable: true } as const
    assert.deepInclude(fieldsOf(2, "team", "Otters", "site", "a\u0007b"), {
      ...changes,
      fields: [
        ["team", "Otters"],
        ["site", "a b"]
      ]
    })
    assert.deepInclude(fieldsOf(255, "team", "Otters", "site"), { ...changes, fields: [["team", "Otters"]] })
    assert.lengthOf(fieldsOf(200, ...Array.from({ length: 400 }, () => "x"))?.fields ?? [], 32)
  })

  it("does not take the name from metadata of another mint", () => {
    const carried = extension(19, metadataOf(at(11), "Fern Network", "FERN"))
    assert.deepInclude(readMintAccount(extendedMint(MINT, [carried])), { metadata: null })
  })

  const mint = classicMint(MINT)
  const extended = extendedMint(MINT, [extension(1, new Uint8Array(108))])
  const changed = (account: typeof mint, offset: number, value: number) => {
    const data = account.data.slice()
    data[offset] = value
    return { ...account, data }
  }

  const others: ReadonlyArray<readonly [string, typeof mint, string]> = [
    ["an account of another program", { ...mint, owner: at(3) }, "NotAMint"],
    ["an empty account", { ...mint, data: new Uint8Array(0) }, "NotAMint"],
    ["a token account", { ...mint, data: new Uint8Array(165).fill(1) }, "NotAMint"],
    ["a token account of Token-2022", changed(extended, 165, 2), "NotAMint"],
    ["a classic account with extensions", { ...extended, owner: TOKEN_PROGRAM }, "NotAMint"],
    ["a multisig", { ...extended, data: new Uint8Array(355).fill(1) }, "NotAMint"],
    ["a mint that was never begun", changed(mint, 45, 0), "NotAMint"],
    ["a mint that is neither begun nor not", changed(mint, 45, 2), "Malformed"],
    ["an authority with an invalid tag", changed(mint, 0, 2), "Malformed"],
    ["a freeze authority with an invalid tag", changed(mint, 48, 1), "Malformed"],
    ["an unknown kind of account", changed(extended, 165, 9), "Malformed"],
    ["an extension beyond the end", changed(extended, 169, 1), "Malformed"]
  ]

  for (const [what, account, tag] of others) {
    it(`takes ${what} as ${tag}`, () => {
      assert.strictEqual(readMintAccount(account)._tag, tag)
    })
  }

  const Byte = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))

  it.effect.prop("never throws, whatever the bytes are", [Schema.Array(Byte), Schema.Boolean], ([bytes, padded]) =>
    Effect.sync(() => {
      const data = padded ? Uint8Array.from([...extended.data.subarray(0, 166), ...bytes]) : Uint8Array.from(bytes)
      readMintAccount({ ...extended, data })
      readMetaplex({ ...metaplexAccount(at(1), MINT, "", ""), data: Uint8Array.from([4, ...bytes]) }, MINT)
    })
  )
})

describe("Metaplex metadata", () => {
  it("is where Metaplex keeps it: the address of mainnet's USDC", () => {
    const address = Address.make("5x38Kp4hvdomTCnCrAny4UtMUt5rQBdB6px2K1Ui45Wq")
    assert.strictEqual(metaplexAddress(USDC, findProgramAddress), address)
  })

  it("is read without its padding", () => {
    assert.deepStrictEqual(readMetaplex(metaplexAccount(at(1), MINT, "Otter", "OTTER"), MINT), {
      name: "Otter",
      symbol: "OTTER",
      uri: "https://example.com/token.json",
      origin: { source: "metaplex", updateAuthority: at(9), isMutable: false, fields: [] }
    })
  })

  it("reads the mutable flag, which follows the creators", () => {
    const account = metaplexAccount(at(1), MINT, "Otter", "OTTER")
    const behind = account.data.length - 20
    const mutableOf = (...bytes: ReadonlyArray<number>) =>
      readMetaplex({ ...account, data: Uint8Array.from([...account.data.subarray(0, behind), ...bytes]) }, MINT)?.origin
        ?.isMutable
    const creator = Array.from({ length: 34 }, () => 1)
    assert.isTrue(mutableOf(0, 0, 0, 0, 1))
    assert.isFalse(mutableOf(0, 0, 0, 1, 0))
    assert.isTrue(mutableOf(0, 0, 1, 2, 0, 0, 0, ...creator, ...creator, 0, 1))
    assert.isFalse(mutableOf(0, 0, 1, 2, 0, 0, 0, ...creator, ...creator, 1, 0))
    assert.isNull(mutableOf(0, 0, 1, 255, 255, 255, 255, ...creator))
    assert.isNull(mutableOf())
  })

  it("is null when there is no text or it is too long", () => {
    assert.deepInclude(readMetaplex(metaplexAccount(at(1), MINT, "", "x".repeat(257)), MINT), {
      name: null,
      symbol: null
    })
    const account = metaplexAccount(at(1), MINT, "Otter", "OTTER")
    account.data[69] = 0xff
    assert.deepInclude(readMetaplex(account, MINT), { name: null, symbol: "OTTER" })
  })

  it("is ignored when it belongs to another program, mint or kind", () => {
    const account = metaplexAccount(at(1), MINT, "Otter", "OTTER")
    assert.isNull(readMetaplex({ ...account, owner: at(2) }, MINT))
    assert.isNull(readMetaplex(account, at(11)))
    assert.isNull(readMetaplex({ ...account, data: account.data.with(0, 6) }, MINT))
    assert.isNull(readMetaplex({ ...account, data: account.data.subarray(0, 80) }, MINT))
  })
})
